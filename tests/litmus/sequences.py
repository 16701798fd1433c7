"""What an operation of a memory model is in assembler: the tables of sequences/*.txt.

A row:  operation order ... | scope ... | access ... | instruction ; instruction ... | rows of docs/reference/seed-rows.md
The first row that fits holds. `op BITS` is the access itself, `let name = instructions` a name for some, `include model`
takes the rows of another model that no row before it has."""
import pathlib
import sys

MODELS = {"gfx7": "gfx7", "gfx8": "gfx7", "gfx90a": "gfx90a", "gfx94": "gfx942", "gfx9": "gfx9", "gfx10": "gfx10", "gfx11": "gfx11"}


class Row:
    def __init__(self, where, cells):
        self.where, self.used = where, False
        (self.operation, *self.orders), self.scopes, self.accesses = (cell.split() for cell in cells[:3])
        self.steps = [step.strip() for step in cells[3].split(";") if step.strip()]

    def fits(self, operation, order, scope, access):
        return (operation == self.operation and order in self.orders and {scope, "any"} & set(self.scopes)
                and {access, "any"} & set(self.accesses))


class Sequences:
    def __init__(self, folder, model):
        self.folder, self.names, self.rows = pathlib.Path(folder), {}, []
        self.read(model)
        self.own = [row for row in self.rows if row.where.startswith(model + ".txt")]

    def read(self, model):
        for number, line in enumerate((self.folder / f"{model}.txt").read_text().splitlines(), 1):
            line = line.split("#")[0].strip()
            if line.startswith("let "):
                name, text = line[4:].split(" = ")
                self.names.setdefault(name.strip(), [step.strip() for step in text.split(";")])
            elif line.startswith("include "):
                self.read(line.split()[1])
            elif line:
                cells = line.split("|")
                if len(cells) not in (4, 5):
                    sys.exit(f"sequences/{model}.txt:{number}: wants four or five columns: {line}")
                self.rows.append(Row(f"{model}.txt:{number}", cells))

    def steps(self, operation, order, scope, access, has_result):
        """Instructions, the access itself as "op" and its bits."""
        row = next((r for r in self.rows if r.fits(operation, order, scope, access)), None)
        if not row:
            sys.exit(f"sequences of {self.rows[0].where}: none for {operation} {order} {scope} {access}")
        row.used = True
        result = []
        for step in row.steps:
            if step == "done" and not has_result:
                step = "done_without_result"
            result += self.names.get(step, [step])
        return result

    def unused(self):
        return [f"sequences/{row.where}" for row in self.own if not row.used]


def sequences_of(folder, target):
    model = next((m for prefix, m in MODELS.items() if target.startswith(prefix)), None)
    if not model:
        sys.exit(f"{target} has no sequences: what clang makes of the other languages can be tested alone")
    return Sequences(folder, model)
