import { EmptyState } from '../../ui/empty-state.tsx';
import { strings } from '../strings.ts';

export const SubscriptionsPage = () => <EmptyState title={strings.subscriptions.title} />;
