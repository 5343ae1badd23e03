import { AuditEntry } from './operator-audit.ts';
import {
  Client,
  ClientCredentials,
  ClientDetails,
  ClientSession,
  ClientUpdate,
  NewClient,
  Revocation,
  RotatedClient,
  Rotation,
} from './operator-client.ts';
import { DoctorResult } from './operator-doctor.ts';
import { Import } from './operator-import.ts';
import { Key, KeyRotation } from './operator-key.ts';
import { Setting } from './operator-setting.ts';
import { DeletedTenant, Erasure, ErasureSummary, NewTenant, Tenant } from './operator-tenant.ts';
import { CreatedOperator, NewOperator, Operator } from './operator-token.ts';

/** The named schemas of the operator's API. */
export const operatorSchemas = {
  Tenant,
  NewTenant,
  DeletedTenant,
  Erasure,
  ErasureSummary,
  Client,
  ClientDetails,
  ClientCredentials,
  ClientSession,
  RotatedClient,
  NewClient,
  ClientUpdate,
  Rotation,
  Revocation,
  Import,
  DoctorResult,
  Setting,
  Key,
  KeyRotation,
  Operator,
  CreatedOperator,
  AuditEntry,
  NewOperator,
} as const;
