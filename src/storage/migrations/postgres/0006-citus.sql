-- Oldest schema a program must know: 0004-imports
-- On Citus, clients with their secrets and refresh families move back to the coordinator. A request then needs the
-- coordinator and the node of its tenant, and a dead node stops its own tenants only. Elsewhere this does nothing.
do $$ begin
  if exists (select 1 from pg_extension where extname = 'citus') then
    if exists (select 1 from pg_dist_partition where logicalrelid = 'client'::regclass) then
      perform undistribute_table('client', cascade_via_foreign_keys => true);
    end if;
  end if;
end $$;
