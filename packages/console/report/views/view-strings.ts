/** The texts of saved views. */
export const viewStrings = {
  menu: 'Views',
  name: 'Save this view as',
  hint: 'Only this browser keeps it, without email addresses.',
  nameRule: 'Enter a name',
  personalRule: 'This browser keeps no ICCID, device or subscription. Remove that filter, or copy the link',
  save: 'Save',
  saved: (name: string) => `The view ${name} is saved`,
  copyLink: 'Copy link',
  copyCommand: 'Copy as command',
  copyCurl: 'Copy as curl',
  copyHint: 'Both export what the filters select as CSV. curl needs ACCESS_TOKEN.',
} as const;
