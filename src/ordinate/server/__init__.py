"""The server: people judge together in the browser, programs through the API. It keeps nothing that is not in a study.

create_app()  the application over the studies it serves
"""
