/** The words of records. */
export const wordStrings = {
  end: {
    in: (time: string) => `in ${time}`,
    ago: (time: string) => `${time} ago`,
    hours: (count: number) => `${count} h`,
    minutes: (count: number) => `${count} min`,
    inDays: (days: number) => `in ${days} days`,
  },
  yes: 'Yes',
  no: 'No',
} as const;
