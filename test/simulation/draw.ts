import type { TSchema } from 'typebox';
import { changeParameters } from '../../packages/contract/change.ts';
import { changesSummaryParameters } from '../../packages/contract/changes-summary.ts';
import { subscriptionParameters } from '../../packages/contract/history.ts';
import { type ReportParameter, reportParameters } from '../../packages/contract/query.ts';
import { recordFields } from '../../packages/contract/record-fields.ts';
import { defaultPageLimits } from '../../packages/contract/report.ts';
import { type SummaryParameter, summaryGroups, summaryParameters } from '../../packages/contract/summary.ts';
import { instantMs, localDate } from '../support/zoned.ts';
import * as domain from './domain.ts';
import { durationOf, type Query } from './model.ts';
import type { Random } from './random.ts';

/** The parameters of the operations that read records, by operation, as in the contract. */
export const contractParameters: Readonly<Record<string, Readonly<Record<string, TSchema>>>> = {
  listSubscriptions: reportParameters(defaultPageLimits),
  searchSubscriptions: reportParameters(defaultPageLimits),
  getSubscription: subscriptionParameters,
  getSubscriptionSummary: summaryParameters,
  listSubscriptionChanges: changeParameters(defaultPageLimits),
  getChangesSummary: changesSummaryParameters,
};

/** How a parameter gets its value. */
interface Rule {
  /** How often a query has the parameter, which may depend on those before it in the contract. */
  readonly chance: number | ((drawn: Query) => number);
  /** Draws a value; `drawn` has those of the parameters before it in the contract. */
  readonly draw: (random: Random, schema: Limits, drawn: Query) => string;
}

interface Limits {
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

const oneOf = (chance: number, values: readonly string[]): Rule => ({ chance, draw: (random) => random.pick(values) });

/** One of the values that the contract lists. */
const listed = (chance: number): Rule => ({
  chance,
  draw: (random, schema) => random.pick(schema.enum ?? []),
});

/** An integer that the contract allows. */
const integer = (chance: number, usual: readonly number[]): Rule => ({
  chance,
  draw: (random, { minimum = 0, maximum = 0, default: fallback = minimum }) => {
    const allowed = usual.filter((value) => value >= minimum && value <= maximum);
    return String(random.pick([...allowed, ...allowed, ...allowed, minimum, maximum, fallback]));
  },
});

/** An instant; usually soon after the one at which the same interval begins. */
const instant = (chance: number, start?: string): Rule => ({
  chance,
  draw: (random, _schema, drawn) => {
    const begin = start === undefined ? undefined : drawn[start];
    const isNear = begin !== undefined && random.chance(0.8);
    const ms = isNear
      ? instantMs(begin, drawn.zone) + random.between(1, 40) * domain.step
      : domain.base + random.between(0, 900) * domain.step;
    const local = drawn.zone !== undefined && random.chance(0.6) ? writeLocal(random, ms, drawn.zone) : undefined;
    const after = begin === undefined ? -Infinity : instantMs(begin, drawn.zone);
    if (local !== undefined && instantMs(local, drawn.zone) > after) return local;
    return writeInstant(random, ms + random.pick([0, 0, 0, 1, 500, 1_000]));
  },
});

/** One of the forms in which a request may write an instant. */
function writeInstant(random: Random, ms: number): string {
  const minutes = random.pick([0, 0, 0, 120, -330]);
  const text = new Date(ms + minutes * 60_000).toISOString();
  const date = ms % 1_000 === 0 && random.chance(0.7) ? text.slice(0, 19) : text.slice(0, 23);
  const clock = `${String(Math.floor(Math.abs(minutes) / 60)).padStart(2, '0')}:${String(Math.abs(minutes) % 60).padStart(2, '0')}`;
  return minutes === 0 ? `${date}Z` : `${date}${minutes < 0 ? '-' : '+'}${clock}`;
}

/** A local date, or a local time: of those that a change skips or repeats, too. */
function writeLocal(random: Random, ms: number, zone: string): string {
  const date = localDate(ms, zone);
  const time = random.pick(['', '', 'T00:00', 'T01:30', 'T02:30:00', 'T02:30:00.5', 'T23:45']);
  return `${date}${time}`;
}

const drawSim = (random: Random): number => domain.simOf(random.between(0, domain.usedIds - 1));

function drawStatuses(random: Random): string {
  const values = [...domain.statuses, 'none'];
  const words = new Set([random.pick(values)]);
  while (random.chance(0.4)) words.add(random.pick(values));
  return [...words].join(',');
}

/** Dimensions in any order; `day` only where the interval of its date has both ends. */
function drawDimensions(random: Random, _schema: Limits, drawn: Query): string {
  const allowed = summaryGroups.filter((group) => group !== 'day' || hasDays(drawn));
  const chosen = allowed.filter(() => random.chance(0.5)).sort(() => (random.chance(0.5) ? -1 : 1));
  return chosen.length === 0 ? random.pick(allowed) : chosen.join(',');
}

function hasDays({ before, after, 'date-field': dateField, 'expires-within': within, ...others }: Query): boolean {
  if (before !== undefined && after !== undefined) return true;
  if (dateField === 'expiration') return within !== undefined && durationOf(within) <= 366 * domain.day;
  return dateField !== 'activation' && others['created-from'] !== undefined && others['created-to'] !== undefined;
}

/** Some fields in any order, and sometimes the whole product. */
function drawFields(random: Random): string {
  const names = recordFields.map(({ name }) => name);
  const known = random.chance(0.3) ? [...names.filter((name) => !name.includes('.')), 'product'] : names;
  const share = random.next();
  const chosen = known.filter(() => random.chance(share)).sort(() => (random.chance(0.5) ? -1 : 1));
  return chosen.length === 0 ? random.pick(known) : chosen.join(',');
}

type ChangesParameter = keyof ReturnType<typeof changeParameters> | keyof typeof changesSummaryParameters;

/** A value of the field that selects changes; seldom without such a field. */
const valueOfField: Rule = {
  chance: ({ field = 'renewal' }) => (field === 'renewal' ? 0.05 : 0.5),
  draw: (random, _schema, { field }) => {
    if (field === 'auto-renew') return random.pick(['true', 'false']);
    return random.pick(field === 'product-id' ? domain.productIds : [...domain.statuses, 'none']);
  },
};

/**
 * Where the value of a parameter comes from. A parameter of the contract without an entry fails.
 */
const rules: Readonly<
  Record<ReportParameter | SummaryParameter | ChangesParameter, Rule | 'from an earlier response'>
> = {
  id: { chance: 0.03, draw: (random) => domain.idOf(random.between(0, domain.usedIds - 1)) },
  iccid: { chance: 0.06, draw: (random) => domain.iccidOf(drawSim(random)) },
  email: {
    chance: 0.1,
    draw: (random) => {
      const email = domain.emailOf(drawSim(random));
      return random.pick([email, email.toUpperCase(), email.normalize('NFC'), email.normalize('NFD')]);
    },
  },
  'product-id': oneOf(0.25, domain.productIds),
  status: { chance: 0.35, draw: drawStatuses },
  // an instant in the report, a word in the changes
  before: {
    chance: 0.2,
    draw: (random, schema, drawn) =>
      schema.enum === undefined ? instant(1, 'after').draw(random, schema, drawn) : random.pick(schema.enum),
  },
  after: instant(0.3),
  'date-field': listed(0.3),
  'device-id': { chance: 0.06, draw: (random) => domain.deviceOf(drawSim(random)) },
  'plan-id': oneOf(0.15, domain.planIds),
  'auto-renew': listed(0.15),
  'created-from': instant(0.15),
  'created-to': instant(0.15, 'created-from'),
  'expires-within': oneOf(0.15, ['1h', '90d', '26w', 'P30D', 'PT36H', 'P400DT2H5M', '3600d']),
  zone: oneOf(0.4, [
    'Europe/Berlin',
    'America/St_Johns',
    'Australia/Lord_Howe',
    'America/Sao_Paulo',
    'Asia/Kathmandu',
    'UTC',
  ]),
  sort: listed(0.6),
  size: integer(0.9, [1, 2, 3, 7, 20, 50, 100, 250]),
  page: integer(0.4, [1, 2, 3, 5, 40, 400, 1_000_000]),
  cursor: 'from an earlier response',
  format: oneOf(0.4, ['json', 'csv', 'ndjson']), // the model has no Parquet
  fields: { chance: 0.3, draw: drawFields },
  // only CSV has them, and only with a zone
  dates: { ...listed(0), chance: ({ zone, format }) => (zone !== undefined && format === 'csv' ? 0.7 : 0) },
  all: listed(0.2),
  by: { chance: 0.9, draw: drawDimensions },
  'as-of': 'from an earlier response',
  since: 'from an earlier response',
  until: 'from an earlier response',
  order: listed(0.5),
  kind: oneOf(0.3, ['added', 'changed', 'changed', 'removed', 'removed,changed', 'added,changed,removed']),
  field: { ...listed(0), chance: ({ kind = 'changed' }) => (kind === 'changed' ? 0.6 : 0.1) },
  from: valueOfField,
  to: valueOfField,
  'import-id': 'from an earlier response', // the service chooses the ids of its imports
};

/**
 * Draws a query of an operation. Each parameter is valid; together they may contradict each other.
 */
export function drawQuery(random: Random, operation: keyof typeof contractParameters): Query {
  const drawn: Record<string, string> = {};
  for (const [name, schema] of inOrder(contractParameters[operation] ?? {})) {
    const rule = ruleOf(name);
    if (rule === 'from an earlier response' || !random.chance(chanceOf(rule, drawn))) continue;
    drawn[name] = rule.draw(random, schema as Limits, drawn);
  }
  return drawn;
}

const chanceOf = ({ chance }: Rule, drawn: Query): number => (typeof chance === 'number' ? chance : chance(drawn));

/**
 * The parameters in the order of the contract, but `zone` before the dates, and `before` behind
 * `after`, on which it depends.
 */
function inOrder(parameters: Readonly<Record<string, TSchema>>): [string, TSchema][] {
  const names = Object.keys(parameters).filter((name) => name !== 'before' && name !== 'zone');
  if ('zone' in parameters) names.unshift('zone');
  if ('before' in parameters) names.splice(names.indexOf('after') + 1, 0, 'before');
  return names.map((name) => [name, parameters[name] as TSchema]);
}

/** The rule of a parameter; throws if the contract has a parameter that nobody draws. */
export function ruleOf(name: string): Rule | 'from an earlier response' {
  const rule = Object.hasOwn(rules, name) ? rules[name as keyof typeof rules] : undefined;
  if (rule === undefined)
    throw new TypeError(
      `Cannot draw the parameter '${name}' of the contract: test/simulation/draw.ts must have a rule for it`,
    );
  return rule;
}
