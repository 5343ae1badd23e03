import { join } from 'node:path';
import { Spool } from '../../import/spool.ts';
import type { Config } from '../config.ts';

/** The configured spool for sources that are read twice. */
export const openSpool = ({ DATA_DIR, SPOOL_MAX_MIB }: Pick<Config, 'DATA_DIR' | 'SPOOL_MAX_MIB'>): Spool =>
  new Spool(join(DATA_DIR, 'spool'), SPOOL_MAX_MIB * 1_048_576);
