"""From an observation to holders: who has every GPU process and every used byte."""
