import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

const pathOf = (status) => `/connect-api/v1/subscription?sort=-createdDate&size=20${status && `&status=${status}`}`;

/** Reads a page: its records, the total, and the path of the following page, if any. */
async function readPage(path, signal) {
  const response = await fetch(path, { signal });
  const body = await response.json().catch(() => ({}));
  const header = (name) => response.headers.get(name);
  if (!response.ok) throw new Error(`${body.detail ?? response.status} (correlation id ${header('x-correlation-id')})`);
  const next = header('x-next-page') && new URL(header('x-next-page'));
  return { records: body, total: header('x-total-count') ?? 'unknown', next: next && next.pathname + next.search };
}

const Cells = ({ of }) => of.map((text, column) => <td key={`${column} ${text}`}>{text}</td>);

function SubscriptionTable() {
  const [paths, setPaths] = useState([pathOf('')]); // of the pages up to the one that is shown
  const [page, setPage] = useState({ records: [], message: 'Loading…' });
  useEffect(() => {
    const abort = new AbortController();
    readPage(paths.at(-1), abort.signal).then(
      (read) => setPage({ ...read, message: `${read.total} subscriptions, page ${paths.length}` }),
      (error) => abort.signal.aborted || setPage({ records: [], message: `Cannot be read: ${error.message}` }),
    );
    return () => abort.abort(); // a later choice replaces this request
  }, [paths]);
  const { records, message, next } = page;
  return (
    <>
      <select aria-label="Status" onChange={({ target }) => setPaths([pathOf(target.value)])}>
        <option value="">all</option>
        {['ACTIVE', 'PENDING', 'DEPLETED', 'EXPIRED'].map((status) => (
          <option key={status}>{status}</option>
        ))}
      </select>
      <p role="status">{message}</p>
      <table>
        <tbody>
          {records.map(({ id, createdDate, status, iccid, product }) => (
            <tr key={id}>
              <Cells of={[createdDate.slice(0, 10), status, iccid, product.name]} />
            </tr>
          ))}
        </tbody>
      </table>
      <button type="button" disabled={paths.length === 1} onClick={() => setPaths(paths.slice(0, -1))}>
        Previous
      </button>
      <button type="button" disabled={!next} onClick={() => setPaths([...paths, next])}>
        Next
      </button>
    </>
  );
}

createRoot(document.getElementById('root')).render(<SubscriptionTable />);
