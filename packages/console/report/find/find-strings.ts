/** The texts of the dialog that finds. */
export const findStrings = {
  title: 'Find',
  hint: 'ICCID, email address, product, id, status or page',
  pasteHint: 'Paste a column of a spreadsheet to find up to 1,000 ICCIDs, devices or subscriptions.',
  none: 'No page or filter matches. An ICCID must be complete.',
  subscriptions: 'Subscriptions',
  pages: 'Pages',
} as const;
