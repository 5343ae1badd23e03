import type { ComponentChildren } from 'preact';
import type { Subscription } from '../../../client/index.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { describePeriod, describeRenewal } from '../words/describe-value.ts';
import { fieldHeading } from '../words/field-heading.ts';
import { groupIccid } from '../words/iccid.ts';
import { nameOf } from '../words/product-names.ts';
import { recordValues } from '../words/record-values.ts';

/** What the fields with words of their own, and the view around them, show. */
const shown: ReadonlySet<string> = new Set([
  ...['id', 'status', 'activationDate', 'expirationDate', 'createdDate', 'iccid', 'device_id', 'auto_renew'],
  ...['id', 'name', 'period', 'period_unit', 'plan_id'].map((name) => `product.${name}`),
]);

/** The fields of a record, by name, with buttons that copy their values. */
export function RecordFields({ record }: { record: Subscription }) {
  const { product } = record;
  const period = describePeriod(product.period, product.period_unit);
  return (
    <dl class="record-fields lines">
      <Field name={fieldHeading('product.name')}>
        <bdi>{nameOf(product)}</bdi>
        {!product.name?.endsWith(period) && <span class="soft">{period}</span>}
      </Field>
      <Field name={fieldHeading('iccid')} copied={record.iccid}>
        {groupIccid(record.iccid)}
      </Field>
      <Field name={fieldHeading('device_id')} copied={record.device_id}>
        <bdi>{record.device_id}</bdi>
      </Field>
      <Field name={fieldHeading('auto_renew')}>{describeRenewal(record.auto_renew)}</Field>
      <Field name={fieldHeading('id')} copied={record.id}>
        <code>{record.id}</code>
      </Field>
      <Field name={fieldHeading('product.id')} copied={product.id}>
        <code>{product.id}</code>
      </Field>
      {product.plan_id !== undefined && (
        <Field name="Plan id" copied={product.plan_id}>
          <code>{product.plan_id}</code>
        </Field>
      )}
      {[...recordValues(record)]
        .filter(([name]) => !shown.has(name))
        .map(([name, value]) => (
          <Field key={name} name={fieldHeading(name)} copied={value}>
            <bdi>{value}</bdi>
          </Field>
        ))}
    </dl>
  );
}

interface FieldProps {
  readonly name: string;
  readonly copied?: string;
  readonly children: ComponentChildren;
}

const Field = ({ name, copied, children }: FieldProps) => (
  <div>
    <dt class="soft">{name}</dt>
    <dd class="spread gap-2">
      <span class="record-value long">{children}</span>
      {copied !== undefined && copied !== '' && <CopyButton text={copied} what={name} />}
    </dd>
  </div>
);
