import { startConsole } from '../ui/console-app.tsx';
import { ChartColumn, Download, History, List, SearchCheck } from '../ui/icons.ts';
import type { Page } from '../ui/page.ts';
import { refreshable } from './live/refreshable.tsx';
import { timeFault } from './past/as-of.ts';
import { PastControl } from './past/past-control.tsx';
import { session } from './session/session.ts';
import { SignInPage } from './session/sign-in-page.tsx';
import { titles } from './titles.ts';
import { zoneFault } from './zone/page-zone.ts';

const pages: readonly Page[] = [
  {
    path: '/console/',
    hasPast: true,
    label: titles.overview,
    icon: ChartColumn,
    load: async () => refreshable((await import('./overview/overview-page.tsx')).OverviewPage),
  },
  {
    path: '/console/subscriptions',
    hasPast: true,
    label: titles.subscriptions,
    hasThings: true,
    icon: List,
    load: async () => (await import('./subscriptions/subscriptions-page.tsx')).SubscriptionsPage,
  },
  {
    path: '/console/changes',
    label: titles.changes,
    icon: History,
    load: async () => refreshable((await import('./changes/changes-page.tsx')).ChangesPage),
  },
  {
    path: '/console/findings',
    label: titles.findings,
    icon: SearchCheck,
    load: async () => refreshable((await import('./findings/findings-page.tsx')).FindingsPage),
  },
  {
    path: '/console/exports',
    hasPast: true,
    label: titles.exports,
    icon: Download,
    load: async () => (await import('./export/exports-page.tsx')).ExportsPage,
  },
];

startConsole({
  keeper: session,
  pages,
  describe: ({ client_id, name, tenant }) => ({ user: name ?? client_id, context: tenant }),
  past: { Control: PastControl, faultOf: () => timeFault.value ?? zoneFault.value },
  SignIn: SignInPage,
  loadFind: async () => (await import('./find/find-dialog.tsx')).FindDialog,
});
