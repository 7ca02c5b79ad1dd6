"""Models that judge pairs: a request to a chat endpoint for each pair, and its reply as an answer.

    places    where pairs come from and answers go: a study in a file, or one on a server
    prompt    a pair as messages, and a reply as a verdict
    endpoint  sends the messages; waits and repeats where the endpoint is busy
    judging   many pairs at once, within budgets

Nothing is sent anywhere but to the endpoint that the caller names; docs/model-judges.md says what is.
"""
