import { startConsole } from '../ui/console-app.tsx';
import { Activity, Building2, KeyRound, ScrollText, Settings, ShieldCheck, Upload, Users } from '../ui/icons.ts';
import type { Page } from '../ui/page.ts';
import { session } from './session/session.ts';
import { SignInPage } from './session/sign-in-page.tsx';
import { strings } from './strings.ts';

const pages: readonly Page[] = [
  {
    path: '/console/',
    label: 'Health',
    icon: Activity,
    load: async () => (await import('./health/health-page.tsx')).HealthPage,
  },
  {
    path: '/console/tenants',
    label: strings.tenants.title,
    hasThings: true,
    icon: Building2,
    load: async () => (await import('./tenants/tenants-page.tsx')).TenantsPage,
  },
  {
    path: '/console/clients',
    label: strings.clients.title,
    hasThings: true,
    icon: Users,
    load: async () => (await import('./clients/clients-page.tsx')).ClientsPage,
  },
  {
    path: '/console/imports',
    label: strings.imports.title,
    hasThings: true,
    icon: Upload,
    load: async () => (await import('./imports/imports-page.tsx')).ImportsPage,
  },
  {
    path: '/console/keys',
    label: strings.keys.title,
    icon: KeyRound,
    load: async () => (await import('./keys/keys-page.tsx')).KeysPage,
  },
  {
    path: '/console/audit',
    label: strings.audit.title,
    icon: ScrollText,
    load: async () => (await import('./audit/audit-page.tsx')).AuditPage,
  },
  {
    path: '/console/operators',
    label: strings.operators.title,
    icon: ShieldCheck,
    load: async () => (await import('./operators/operators-page.tsx')).OperatorsPage,
  },
  {
    path: '/console/settings',
    label: strings.settings.title,
    icon: Settings,
    load: async () => (await import('./settings/settings-page.tsx')).SettingsPage,
  },
];

document.documentElement.dataset.console = 'operator';
startConsole({
  keeper: session,
  pages,
  word: strings.word,
  describe: ({ operator }) => ({ user: operator.name }),
  SignIn: SignInPage,
});
