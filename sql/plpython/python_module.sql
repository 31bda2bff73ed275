-- Makes a module of the virtual environment python_venv importable for Python functions. One call per session is enough.
--
-- The server's own modules take precedence. The setting python_venv names the environment; only its package folder is
-- added, at the end of the path. A role that may store settings could otherwise run code as the server, so the folder
-- must belong to root or the server's user and be writable by nobody else.
--
-- name  scipy.sparse or dateparser.date
--
-- problem, hint  what is missing or unsafe, and what to do; NULL: the module is available
--
-- Errors  22023 another module
CREATE OR REPLACE FUNCTION pgrecall.python_module(name text, OUT problem text, OUT hint text)
RETURNS record
LANGUAGE plpython3u VOLATILE
SET search_path FROM CURRENT
AS $function$
import importlib
import os
import stat
import sys

packages = {"scipy.sparse": "scipy", "dateparser.date": "dateparser"}
if name not in packages:
    plpy.error("no function of pgrecall needs this module", sqlstate="22023")
own = "%d.%d" % sys.version_info[:2]
server = "On the database server: "


def unusable(venv, folder):
    """What is wrong with a virtual environment, and what to do; None if nothing is."""
    if not os.access(venv, os.R_OK | os.X_OK):
        return (
            "python_venv names a folder that is not there, or that the server's user cannot read: " + venv,
            server + "python%s -m venv %s" % (own, venv),
        )
    if not os.path.isdir(folder):
        library = os.path.join(venv, "lib")
        there = [one for one in os.listdir(library) if one.startswith("python")] if os.path.isdir(library) else []
        return (
            "python_venv is of %s, the server's Python is %s: %s" % (", ".join(there) or "no Python", own, venv),
            server + "python%s -m venv --clear %s" % (own, venv),
        )
    status = os.stat(folder)
    if status.st_uid not in (0, os.geteuid()) or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return (
            "python_venv is not safe to load code from, others can write there: " + folder,
            server + "chown -R root %s; chmod -R go-w %s" % (venv, venv),
        )
    return None


def load():
    # Threads of a numeric library would take the signals that are the server's.
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    try:
        importlib.import_module(name)
    except ImportError as error:
        return str(error)
    return None


if load() is None:
    return None, None
venv = plpy.execute("SELECT pgrecall.stored_setting('python_venv') AS venv")[0]["venv"]
if not venv:
    return (
        "the server's Python %s has no module %s, and the setting python_venv is empty" % (own, packages[name]),
        server + "python%s -m venv DIR; DIR/bin/pip install scipy dateparser. "
        "Then: SELECT pgrecall.set_setting('python_venv', 'DIR')" % own,
    )
folder = os.path.join(venv, "lib", "python" + own, "site-packages")
refused = unusable(venv, folder)
if refused is not None:
    return refused
if folder not in sys.path:
    sys.path.append(folder)
    importlib.invalidate_caches()
missing = load()
if missing is not None:
    return (
        "the module %s cannot be loaded from %s: %s" % (packages[name], folder, missing),
        server + "%s/bin/pip install %s" % (venv, packages[name]),
    )
return None, None
$function$;

GRANT EXECUTE ON FUNCTION pgrecall.python_module TO pgrecall_reader;
