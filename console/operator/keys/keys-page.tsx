import { EmptyState } from '../../ui/empty-state.tsx';
import { strings } from '../strings.ts';

export const KeysPage = () => <EmptyState title={strings.keys.title} />;
