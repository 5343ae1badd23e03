import { fieldWords } from '../../../contract/field-words.ts';

/** Names that are not those of the field in words. */
const headings: Readonly<Record<string, string>> = {
  activationDate: 'Activated',
  expirationDate: 'Ends',
  createdDate: 'Created',
  'product.name': 'Product',
  'product.period': 'Period',
  'product.period_unit': 'Unit of the period',
  iccid: 'ICCID',
  device_id: 'Device',
  auto_renew: 'Renews',
};

/** The name of a field as people read it: `Product plan id`. */
export const fieldHeading = (name: string): string => headings[name] ?? fieldWords(name);
