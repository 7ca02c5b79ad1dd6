-- Rules of scaling have other names. Studies from before keep the rules they had, none of which is the default now.
UPDATE study SET scaling = 'standard' WHERE scaling = 'auto';
UPDATE study SET scaling = 'uncentred' WHERE scaling = 'none';
