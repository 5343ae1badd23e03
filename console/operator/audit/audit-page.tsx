import { EmptyState } from '../../ui/empty-state.tsx';
import { strings } from '../strings.ts';

export const AuditPage = () => <EmptyState title={strings.audit.title} />;
