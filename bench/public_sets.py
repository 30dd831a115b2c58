"""Public data sets that comparisons take where they lie in a folder: none of them is part of this project."""
import pandas as pd

COUNT = {"parameters": {"family": "poisson"}, "exposure": "Exposure"}

# name, file, target, how pandas reads it, what is left out, what the spec says beside
SETS = [
    ("adult", "adult/adult.data.gz", "output", {"skipinitialspace": True, "na_values": "?"}, [], {}),
    ("bank", "bank-marketing/bank-full.csv.gz", "y", {"sep": ";"}, [], {}),
    ("bank-additional", "bank-marketing/bank-additional-full.csv.gz", "y", {"sep": ";"}, ["duration"], {}),
    ("cardio", "cardio/cardio_train.csv.gz", "cardio", {"sep": ";"}, ["id"], {}),
    ("givemecredit", "givemecredit/cs-training.csv.gz", "SeriousDlqin2yrs", {}, ["Unnamed: 0"], {}),
    ("higgs", "higgs7k/binary.train.tsv.gz", "c0", {"sep": "\t", "header": None}, [], {}),
    ("german", "small/german_credit.csv.gz", "Class", {}, [], {}),
    ("pima", "small/pima.csv.gz", "diabetes", {}, [], {}),
    ("churn", "small/mlc_churn.csv.gz", "churn", {}, [], {}),
    ("satimage", "small/satimage.csv.gz", "classes", {}, [], {}),
    ("msd-year", "msd-year-small/millionsong.txt.gz", "c0", {"header": None}, [], {}),
    ("flights", "nycflights13/flights.csv.gz", "arr_delay", {}, ["tailnum", "flight"], {}),
    ("freMTPL2", "fremtpl2/freMTPL2freq.csv.gz", "ClaimNb", {}, ["IDpol"], COUNT),
]


# Sets whose columns are hashed: another program has no design like theirs.
HASHED = [
    ("criteo10k", "criteo10k/train.txt.gz", "c0", {"sep": "\t", "header": None}, [], {}),
]


def sets_of(folder, sets=SETS):
    for name, file, target, reading, left_out, spec in sets:
        if not (folder / file).is_file():
            continue
        frame = pd.read_csv(folder / file, **reading)
        if reading.get("header", 0) is None:
            frame.columns = ["c%d" % i for i in range(frame.shape[1])]
        yield name, frame.drop(columns=left_out), target, spec
    for file in sorted(folder.glob("*.csv")):
        frame = pd.read_csv(file)
        yield file.stem, frame, frame.columns[-1], {}
