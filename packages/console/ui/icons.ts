// Icons of lucide, whose package has 33 MB; icons.license.txt has its terms. To add one, copy
// its shapes from https://lucide.dev.

/** The lines of an icon, each as the data of a path, within 24 × 24. */
export type IconNode = readonly string[];

/* @__NO_SIDE_EFFECTS__ */
const circle = (x: number, y: number, r: number): string =>
  `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;

/** A rectangle with corners of the radius 2. */
/* @__NO_SIDE_EFFECTS__ */
const box = (x: number, y: number, width: number, height: number): string =>
  `M${x + 2} ${y}h${width - 4}a2 2 0 0 1 2 2v${height - 4}a2 2 0 0 1-2 2h${4 - width}a2 2 0 0 1-2-2v${4 - height}a2 2 0 0 1 2-2z`;

export const Activity: IconNode = [
  'M22 12h-2.48a2 2 0 0 0-1.93 1.46l-2.35 8.36a.25.25 0 0 1-.48 0L9.24 2.18a.25.25 0 0 0-.48 0l-2.35 8.36A2 2 0 0 1 4.49 12H2',
];
export const ArrowDown: IconNode = ['M12 5v14', 'm19 12-7 7-7-7'];
export const ArrowUp: IconNode = ['m5 12 7-7 7 7', 'M12 19V5'];
export const ArrowUpDown: IconNode = ['m21 16-4 4-4-4', 'M17 20V4', 'm3 8 4-4 4 4', 'M7 4v16'];
export const Ban: IconNode = [circle(12, 12, 10), 'M4.929 4.929 19.07 19.071'];
export const Building2: IconNode = [
  'M10 12h4',
  'M10 8h4',
  'M14 21v-3a2 2 0 0 0-4 0v3',
  'M6 10H4a2 2 0 0 0-2 2v7a2 2 0 0 0 2 2h16a2 2 0 0 0 2-2V9a2 2 0 0 0-2-2h-2',
  'M6 21V5a2 2 0 0 1 2-2h8a2 2 0 0 1 2 2v16',
];
export const CalendarCheck: IconNode = ['M8 2v3', 'M16 2v3', box(3, 3, 18, 18), 'M3 9h18', 'm9 15 2 2 4-4'];
export const CalendarDays: IconNode = [
  'M8 2v3',
  'M16 2v3',
  box(3, 3, 18, 18),
  'M3 9h18',
  'M8 13h.01',
  'M12 13h.01',
  'M16 13h.01',
  'M8 17h.01',
  'M12 17h.01',
  'M16 17h.01',
];
export const ChartColumn: IconNode = ['M3 3v16a2 2 0 0 0 2 2h16', 'M18 17V9', 'M13 17V5', 'M8 17v-3'];
export const Check: IconNode = ['M20 6 9 17l-5-5'];
export const ChevronDown: IconNode = ['m6 9 6 6 6-6'];
export const ChevronLeft: IconNode = ['m15 18-6-6 6-6'];
export const ChevronRight: IconNode = ['m9 18 6-6-6-6'];
export const ChevronUp: IconNode = ['m18 15-6-6-6 6'];
export const ChevronsUpDown: IconNode = ['m7 15 5 5 5-5', 'm7 9 5-5 5 5'];
export const CircleAlert: IconNode = [circle(12, 12, 10), 'M12 8v4', 'M12 16h.01'];
export const CircleCheck: IconNode = [circle(12, 12, 10), 'm16 9-5.5 5.5L8 12'];
export const CircleHelp: IconNode = [circle(12, 12, 10), 'M9.09 9a3 3 0 0 1 5.83 1c0 2-3 3-3 3', 'M12 17h.01'];
export const CircleUser: IconNode = [
  circle(12, 12, 10),
  circle(12, 10, 3),
  'M7 20.662V19a2 2 0 0 1 2-2h6a2 2 0 0 1 2 2v1.662',
];
export const Columns3: IconNode = [box(3, 3, 18, 18), 'M9 3v18', 'M15 3v18'];
export const Copy: IconNode = [box(8, 8, 14, 14), 'M4 16c-1.1 0-2-.9-2-2V4c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2'];
export const Download: IconNode = ['M12 15V3', 'M21 15v4a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-4', 'm7 10 5 5 5-5'];
export const Ellipsis: IconNode = [circle(12, 12, 1), circle(19, 12, 1), circle(5, 12, 1)];
export const FileUp: IconNode = [
  'M6 22a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2h8a2.4 2.4 0 0 1 1.704.706l3.588 3.588A2.4 2.4 0 0 1 20 8v12a2 2 0 0 1-2 2z',
  'M14 2v5a1 1 0 0 0 1 1h5',
  'M12 12v6',
  'm15 15-3-3-3 3',
];
export const History: IconNode = ['M3 12a9 9 0 1 0 9-9 9.75 9.75 0 0 0-6.74 2.74L3 8', 'M3 3v5h5', 'M12 7v5l4 2'];
export const Inbox: IconNode = [
  'M22 12 16 12 14 15 10 15 8 12 2 12',
  'M5.45 5.11 2 12v6a2 2 0 0 0 2 2h16a2 2 0 0 0 2-2v-6l-3.45-6.89A2 2 0 0 0 16.76 4H7.24a2 2 0 0 0-1.79 1.11z',
];
export const KeyRound: IconNode = [
  'M2.586 17.414A2 2 0 0 0 2 18.828V21a1 1 0 0 0 1 1h3a1 1 0 0 0 1-1v-1a1 1 0 0 1 1-1h1a1 1 0 0 0 1-1v-1a1 1 0 0 1 1-1h.172a2 2 0 0 0 1.414-.586l.814-.814a6.5 6.5 0 1 0-4-4z',
  circle(16.5, 7.5, 0.5),
];
export const Keyboard: IconNode = [
  'M10 8h.01',
  'M12 12h.01',
  'M14 8h.01',
  'M16 12h.01',
  'M18 8h.01',
  'M6 8h.01',
  'M7 16h10',
  'M8 12h.01',
  box(2, 4, 20, 16),
];
export const Link2: IconNode = ['M9 17H7A5 5 0 0 1 7 7h2', 'M15 7h2a5 5 0 1 1 0 10h-2', 'M8 12h8'];
export const Link2Off: IconNode = ['M9 17H7A5 5 0 0 1 7 7', 'M15 7h2a5 5 0 0 1 4 8', 'M8 12h4', 'M2 2L22 22'];
export const List: IconNode = ['M3 5h.01', 'M3 12h.01', 'M3 19h.01', 'M8 5h13', 'M8 12h13', 'M8 19h13'];
export const LogOut: IconNode = ['m16 17 5-5-5-5', 'M21 12H9', 'M9 21H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2h4'];
export const Monitor: IconNode = [box(2, 3, 20, 14), 'M8 21h8', 'M12 17v4'];
export const Moon: IconNode = [
  'M20.985 12.486a9 9 0 1 1-9.473-9.472c.405-.022.617.46.402.803a6 6 0 0 0 8.268 8.268c.344-.215.825-.004.803.401',
];
export const Pencil: IconNode = [
  'M21.174 6.812a1 1 0 0 0-3.986-3.987L3.842 16.174a2 2 0 0 0-.5.83l-1.321 4.352a.5.5 0 0 0 .623.622l4.353-1.32a2 2 0 0 0 .83-.497z',
  'm15 5 4 4',
];
export const Plus: IconNode = ['M5 12h14', 'M12 5v14'];
export const RefreshCw: IconNode = [
  'M3 12a9 9 0 0 1 9-9 9.75 9.75 0 0 1 6.74 2.74L21 8',
  'M21 3v5h-5',
  'M21 12a9 9 0 0 1-9 9 9.75 9.75 0 0 1-6.74-2.74L3 16',
  'M8 16H3v5',
];
export const RotateCcw: IconNode = ['M3 12a9 9 0 1 0 9-9 9.75 9.75 0 0 0-6.74 2.74L3 8', 'M3 3v5h5'];
export const ScrollText: IconNode = [
  'M15 12h-5',
  'M15 8h-5',
  'M19 17V5a2 2 0 0 0-2-2H4',
  'M8 21h12a2 2 0 0 0 2-2v-1a1 1 0 0 0-1-1H11a1 1 0 0 0-1 1v1a2 2 0 1 1-4 0V5a2 2 0 1 0-4 0v2a1 1 0 0 0 1 1h3',
];
export const Search: IconNode = ['m21 21-4.34-4.34', circle(11, 11, 8)];
export const SearchCheck: IconNode = ['m8 11 2 2 4-4', circle(11, 11, 8), 'm21 21-4.3-4.3'];
export const SearchX: IconNode = ['m13.5 8.5-5 5', 'm8.5 8.5 5 5', circle(11, 11, 8), 'm21 21-4.3-4.3'];
export const Settings: IconNode = [
  'M9.671 4.136a2.34 2.34 0 0 1 4.659 0 2.34 2.34 0 0 0 3.319 1.915 2.34 2.34 0 0 1 2.33 4.033 2.34 2.34 0 0 0 0 3.831 2.34 2.34 0 0 1-2.33 4.033 2.34 2.34 0 0 0-3.319 1.915 2.34 2.34 0 0 1-4.659 0 2.34 2.34 0 0 0-3.32-1.915 2.34 2.34 0 0 1-2.33-4.033 2.34 2.34 0 0 0 0-3.831A2.34 2.34 0 0 1 6.35 6.051a2.34 2.34 0 0 0 3.319-1.915',
  circle(12, 12, 3),
];
export const ShieldCheck: IconNode = [
  'M20 13c0 5-3.5 7.5-7.66 8.95a1 1 0 0 1-.67-.01C7.5 20.5 4 18 4 13V6a1 1 0 0 1 1-1c2 0 4.5-1.2 6.24-2.72a1.17 1.17 0 0 1 1.52 0C14.51 3.81 17 5 19 5a1 1 0 0 1 1 1z',
  'm9 12 2 2 4-4',
];
export const Stethoscope: IconNode = [
  'M11 2v2',
  'M5 2v2',
  'M5 3H4a2 2 0 0 0-2 2v4a6 6 0 0 0 12 0V5a2 2 0 0 0-2-2h-1',
  'M8 15a6 6 0 0 0 12 0v-3',
  circle(20, 10, 2),
];
export const Sun: IconNode = [
  circle(12, 12, 4),
  'M12 2v2',
  'M12 20v2',
  'm4.93 4.93 1.41 1.41',
  'm17.66 17.66 1.41 1.41',
  'M2 12h2',
  'M20 12h2',
  'm6.34 17.66-1.41 1.41',
  'm19.07 4.93-1.41 1.41',
];
export const Table: IconNode = ['M12 3v18', box(3, 3, 18, 18), 'M3 9h18', 'M3 15h18'];
export const Trash2: IconNode = [
  'M10 11v6',
  'M14 11v6',
  'M19 6v14a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2V6',
  'M3 6h18',
  'M8 6V4a2 2 0 0 1 2-2h4a2 2 0 0 1 2 2v2',
];
export const TriangleAlert: IconNode = [
  'm21.73 18-8-14a2 2 0 0 0-3.48 0l-8 14A2 2 0 0 0 4 21h16a2 2 0 0 0 1.73-3',
  'M12 9v4',
  'M12 17h.01',
];
export const Upload: IconNode = ['M12 3v12', 'm17 8-5-5-5 5', 'M21 15v4a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-4'];
export const UserSearch: IconNode = [
  circle(10, 7, 4),
  'M10.3 15H7a4 4 0 0 0-4 4v2',
  circle(17, 17, 3),
  'm21 21-1.9-1.9',
];
export const UserX: IconNode = [
  'M16 21v-2a4 4 0 0 0-4-4H6a4 4 0 0 0-4 4v2',
  circle(9, 7, 4),
  'M17 8L22 13',
  'M22 8L17 13',
];
export const Users: IconNode = [
  'M16 21v-2a4 4 0 0 0-4-4H6a4 4 0 0 0-4 4v2',
  'M16 3.128a4 4 0 0 1 0 7.744',
  'M22 21v-2a4 4 0 0 0-3-3.87',
  circle(9, 7, 4),
];
export const WifiOff: IconNode = [
  'M12 20h.01',
  'M8.5 16.429a5 5 0 0 1 7 0',
  'M5 12.859a10 10 0 0 1 5.17-2.69',
  'M19 12.859a10 10 0 0 0-2.007-1.523',
  'M2 8.82a15 15 0 0 1 4.177-2.643',
  'M22 8.82a15 15 0 0 0-11.288-3.764',
  'm2 2 20 20',
];
export const X: IconNode = ['M18 6 6 18', 'm6 6 12 12'];
