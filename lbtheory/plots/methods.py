"""Names of the methods of the decode paper's Tables 3 and 4, and of ours beside them, as figures and tables write them."""

BRH = "brh:beta=14.67,gamma=0.64"
"""BR-H at the paper's second oracle point, with which its forecasts are used too."""

METHODS = {
    "brh:beta=43,gamma=0.86": "BR-H (43, 0.86)",
    BRH: "BR-H (14.67, 0.64)",
    f"{BRH},predictor=survival": "BR-H Survival",
    f"{BRH},predictor=survival,projection=hazard": "BR-H Survival, hazard",
    f"{BRH},predictor=exact-match": "BR-H ExactMatch",
    f"{BRH},predictor=learned/every=128/samples=20000": "BR-H learned",
    "level-h:predictor=survival": "LEVEL-H+ Survival",
    "level-h:predictor=exact-match": "LEVEL-H+ ExactMatch",
}
