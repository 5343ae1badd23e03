import { parseInstant } from '../../contract/instant.ts';
import { type RecordField, recordFields } from '../../contract/record-fields.ts';
import { memberOf, type SeenRecord } from './account.ts';
import { type Check, count, failed, isJson, judge, notApplicable, passed } from './check.ts';
import { cut } from './requester.ts';

/** A member of a record, the statement about it, and whether a value meets it. */
interface Member {
  readonly id: string;
  readonly path: readonly string[];
  readonly sentence: string;
  readonly isValid: (value: unknown) => boolean;
}

const isString = (value: unknown): boolean => typeof value === 'string';
const isText = (value: unknown): boolean => isString(value) && value !== '';
const orAbsent =
  (isValid: Member['isValid']): Member['isValid'] =>
  (value) =>
    value === undefined || isValid(value);
const matches =
  (pattern: RegExp) =>
  (value: unknown): boolean =>
    typeof value === 'string' && pattern.test(value);

const isInstant = (value: unknown): boolean =>
  matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)(value) && parseInstant(String(value)) !== undefined;

const product: Member = {
  id: 'record-product',
  path: ['product'],
  sentence: 'product is an object.',
  isValid: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/** What docs/contributors/spec.md says of a value beside its type. */
const rules: Readonly<Record<string, readonly [rule: string, isValid: Member['isValid']]>> = {
  id: ['a string of URL-safe base64 characters', matches(/^[\w-]+={0,2}$/)],
  iccid: ['a string of digits', matches(/^\d+$/)],
};

/** The rule of a value of a type. */
function ruleOf({ type, mayBeEmpty }: RecordField): readonly [rule: string, isValid: Member['isValid']] {
  if (type === 'instant') return ['a date-time in UTC of the form yyyy-MM-ddTHH:mm:ssZ', isInstant];
  if (type === 'integer') return ['an integer', Number.isInteger];
  if (type === 'boolean') return ['the string true or false, not a JSON boolean', matches(/^(true|false)$/i)];
  return ['a string', mayBeEmpty ? isString : isText];
}

function memberWith(field: RecordField): Member {
  const { name, column, path, isOptional } = field;
  const [rule, isValid] = rules[name] ?? ruleOf(field);
  const subject = path.length > 1 ? `${path.at(-1)} of the product` : name;
  return {
    id: `record-${column.replaceAll('_', '-')}`,
    path,
    sentence: `${subject} is ${rule}${isOptional ? ', or absent' : ''}.`,
    isValid: isOptional ? orAbsent(isValid) : isValid,
  };
}

/**
 * The members of a record: "Subscription record" and "Product object" of docs/contributors/spec.md.
 */
const members: readonly Member[] = recordFields.flatMap((field, index) => {
  const isFirstPart = field.path.length > 1 && recordFields[index - 1]?.path[0] !== field.path[0];
  return [...(isFirstPart ? [product] : []), memberWith(field)];
});

/** The responses of the report, and their records. */
export const recordChecks: readonly Check[] = [
  {
    id: 'response-json',
    sentence: 'The media type of the report is application/json.',
    run: async ({ firstPage }) => isJson(firstPage.exchange),
  },
  {
    id: 'response-utf8',
    sentence: 'The report is in UTF-8.',
    run: async (account) => {
      const pages = [account.firstPage, ...(await account.walk()).pages];
      const wrong = pages.filter(({ exchange }) => !exchange.isUtf8);
      return judge(wrong.length === 0, `${count(pages.length, 'page')}, ${wrong.length} of them not in UTF-8`);
    },
  },
  ...members.map(
    ({ id, path, sentence, isValid }): Check => ({
      id,
      sentence,
      ...(path.length > 1 && { needs: ['record-product'] }),
      run: async (account) => {
        const records = await account.known();
        if (records.length === 0) return notApplicable('the account has no records');
        const wrong = records.filter((record) => !isValid(valueAt(record, path)));
        if (wrong.length === 0) return passed(count(records.length, 'record'));
        return failed(`${wrong.length} of ${count(records.length, 'record')}; ${describeWrong(wrong, path)}`);
      },
    }),
  ),
];

const valueAt = (record: SeenRecord, path: readonly string[]): unknown => path.reduce(memberOf as never, record);

/** The first wrong value by its type and the id of its record: values may be personal. */
function describeWrong([record = {}]: readonly SeenRecord[], path: readonly string[]): string {
  const value = valueAt(record, path);
  const kind = value === undefined ? 'absent' : value === null ? 'null' : `of type ${typeof value}`;
  return `${path.join('.')} is ${kind}: id ${cut(String(memberOf(record, 'id')), 64)}`;
}
