import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { OperatorOperation } from '../../../contract/operator/operation.ts';
import {
  type OperatorApiId,
  type OperatorBody,
  type OperatorResponse,
  operatorApi,
} from '../../../contract/operator/operations.ts';
import { Type } from '../../../contract/type.ts';
import { call } from '../call.ts';
import { bodyOf, emptyValues, type FieldRows, Fields, isComplete, type Values } from './fields.tsx';
import { FormDialog } from './form-dialog.tsx';
import { useAction } from './use-action.ts';

interface OperationDialogProps<Id extends OperatorApiId> {
  readonly operation: Id;
  readonly params?: Readonly<Record<string, string>>;
  readonly title: string;
  readonly submit: string | ((values: Values) => string);
  /** The members of the body that the form asks for, or those that it does with these values. */
  readonly rows?: FieldRows<Id> | ((values: Values) => FieldRows<Id>);
  /** Values at first, besides the defaults of the schema. */
  readonly initial?: Values;
  /** Members of the body that the form does not ask for. */
  readonly fixed?: Partial<OperatorBody<Id>>;
  readonly typed?: string | ((values: Values) => string | undefined);
  readonly onDone: (result: OperatorResponse<Id>, body: OperatorBody<Id>) => void;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

const noMembers = Type.Object({});

/** The dialog of an operation: its fields, its question, and its errors. */
export function OperationDialog<Id extends OperatorApiId>(props: OperationDialogProps<Id>) {
  const { operation, params = {}, title, submit, rows = {}, initial = {}, fixed, typed, onDone } = props;
  const { body: schema = noMembers }: OperatorOperation = operatorApi[operation];
  const [given, setGiven] = useState<Values>(initial);
  const fields = typeof rows === 'function' ? rows(given) : rows;
  const values = { ...emptyValues(schema, fields), ...given };
  const { run, isBusy, error } = useAction(async () => {
    const body = { ...fixed, ...bodyOf(schema, fields, values) } as OperatorBody<Id>;
    onDone(await call(operation, { params, body }), body);
  });
  return (
    <FormDialog
      title={title}
      submit={typeof submit === 'function' ? submit(values) : submit}
      typed={typeof typed === 'function' ? typed(values) : typed}
      isComplete={isComplete(schema, fields, values)}
      isBusy={isBusy}
      error={error}
      onSubmit={() => void run()}
      onClose={props.onClose}
    >
      {props.children}
      <Fields schema={schema} rows={fields} values={values} onChange={setGiven} />
    </FormDialog>
  );
}
