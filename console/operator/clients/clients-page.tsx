import { EmptyState } from '../../ui/empty-state.tsx';
import { strings } from '../strings.ts';

export const ClientsPage = () => <EmptyState title={strings.clients.title} />;
