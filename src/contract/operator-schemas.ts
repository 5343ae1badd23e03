import { AuditEntry } from './operator-audit.ts';
import { Client, ClientCredentials, ClientDetails, ClientSession, RotatedClient } from './operator-client.ts';
import { DoctorResult } from './operator-doctor.ts';
import { Import } from './operator-import.ts';
import { Key } from './operator-key.ts';
import { Setting } from './operator-setting.ts';
import { DeletedTenant, ErasureSummary, Tenant } from './operator-tenant.ts';
import { CreatedOperator, Operator } from './operator-token.ts';

/** The named schemas of the operator's API. */
export const operatorSchemas = {
  Tenant,
  DeletedTenant,
  ErasureSummary,
  Client,
  ClientDetails,
  ClientCredentials,
  ClientSession,
  RotatedClient,
  Import,
  DoctorResult,
  Setting,
  Key,
  Operator,
  CreatedOperator,
  AuditEntry,
} as const;
