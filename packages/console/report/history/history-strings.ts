/** The texts of the time line of a record. */
export const historyStrings = {
  title: 'Time line',
  hint: (zone: string) => `Times are those of the service, in UTC${zone === 'UTC' ? '' : `; days are in ${zone}`}.`,
  unknownTime: 'Earlier',
  hasMore: 'Older versions are kept, but not listed.',
  importId: 'id of the import',
  nothing: 'nothing',
  kind: {
    added: 'Added',
    changed: 'Changed',
    removed: 'Removed',
    erased: 'Erased',
    known: 'First known version',
  },
} as const;
