"""Tables, charts and self-contained pages, of any evaluation: nothing here knows one."""
