"""Thirteen cells on a map in the Asian morning, with residency rules; data only."""

TITLE = "Three equilibria on a map"
REFERENCE = "DLB paper, sections 2.3 and 3.3"
SECONDS = {"quick": 15, "full": 15}  # one process

COLUMNS = ("name", "latitude", "longitude", "arrival_rate", "capacity", "half", "replicas", "side")
PLACES = [
    ("Portland", 45.5, -122.7, 16, 60, 12, 6, "above"),
    ("Dallas", 32.8, -96.8, 19, 50, 12, 5, "below"),
    ("Ashburn", 39.0, -77.5, 26, 60, 15, 6, "above"),
    ("São Paulo", -23.5, -46.6, 21, 16, 4, 2, "below"),
    ("London", 51.5, -0.1, 26, 36, 9, 4, "left"),
    ("Frankfurt", 50.1, 8.7, 29, 20, 5, 2, "right"),
    ("Stockholm", 59.3, 18.1, 7, 40, 10, 4, "above"),
    ("Johannesburg", -26.2, 28.0, 11, 8, 3, 1, "below"),
    ("Dubai", 25.3, 55.3, 12, 20, 6, 2, "left"),
    ("Mumbai", 19.1, 72.9, 41, 24, 8, 3, "below"),
    ("Singapore", 1.35, 103.8, 31, 30, 9, 3, "below"),
    ("Tokyo", 35.7, 139.7, 52, 40, 8, 5, "above"),
    ("Sydney", -33.9, 151.2, 18, 14, 4, 2, "below"),
]
ALLOWED = {
    "Frankfurt": ["Frankfurt", "Stockholm"],
    "Stockholm": ["Frankfurt", "Stockholm"],
    "Mumbai": ["Mumbai", "Dubai", "Singapore"],
}


def cells(scale):
    """One cell; both scales are the same."""
    places = [
        {
            name: float(value) if isinstance(value, int) and name != "replicas" else value
            for name, value in zip(COLUMNS, row, strict=True)
        }
        for row in PLACES
    ]
    return [("lbtheory.fluid.tasks:map_equilibria", {"places": places, "allowed": ALLOWED}, 0)]
