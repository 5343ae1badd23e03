import { EmptyState } from '../../ui/empty-state.tsx';
import { strings } from '../strings.ts';

export const TenantsPage = () => <EmptyState title={strings.tenants.title} />;
