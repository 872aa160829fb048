"""Rules that give different spellings of one meaning the same formula."""
