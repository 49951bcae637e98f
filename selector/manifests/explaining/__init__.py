"""Why a test resolves as it does, in the words a maintainer needs. Reads traces; decides nothing."""
