-- Oldest schema a program must know: 0001-initial

-- Which columns of CSV are which fields in imports of the tenant, as JSON. Null: none is saved.
alter table tenant add column import_columns text;

-- Which columns of CSV were which fields, as JSON. Null: each had the name of its field.
alter table import_history add column import_columns text;
