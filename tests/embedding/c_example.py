"""Programs in C in the documents."""
import os
import re
import subprocess
import tempfile


def output_of(compiler, include, library, document, code_object):
    """The lines that the only program in the document prints for this code object."""
    with open(document, encoding="utf-8") as file:
        program, = re.findall(r"```c\n(.*?)```", file.read(), re.S)
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "example.c"), os.path.join(folder, "example")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program)
        subprocess.run([compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-I", include, source, "-o", binary, library,
                        f"-Wl,-rpath,{os.path.dirname(library)}"], check=True)
        return subprocess.run([binary, code_object], check=True, capture_output=True, text=True).stdout.splitlines()
