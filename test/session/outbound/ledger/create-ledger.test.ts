/** The ledger on a real folder, with a clock of the test's and owners that are dead or alive as it wants. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createLedger, type DiskLedger } from '../../../../src/session/outbound/ledger/create-ledger.js';
import { defaultDirectory } from '../../../../src/session/outbound/ledger/directory.js';
import { thisProcess } from '../../../../src/session/outbound/ledger/owner.js';
import { verifies } from '../../../requirements.js';
import { manualClock } from '../../../support/manual-clock.js';

const A = 'http://a/mcp';
const B = 'http://b/mcp';

function scene(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'mooring-ledger-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const clock = manualClock();
  const warnings: string[] = [];
  const ledger = (isDead = false): DiskLedger =>
    createLedger({
      clock,
      directory,
      warn: (text) => warnings.push(text),
      ...(isDead ? { owner: { ...thisProcess(), pid: 2 ** 22 + 1 } } : {}),
    });
  const files = (): string[] => readdirSync(directory).filter((name) => name.endsWith('.jsonl'));
  return { directory, clock, warnings, ledger, files };
}

const opened = (ledger: DiskLedger, url: string, id: string, principal = 'p'): void =>
  ledger.opened({ url, id, principal });

describe('the ledger on disk', () => {
  it('hands out what is asked for and leaves the rest to others', (t) => {
    verifies('ledger/own-principal-only');
    const { ledger, files } = scene(t);
    const dead = ledger(true);
    opened(dead, A, '1');
    opened(dead, A, '2', 'somebody else');
    opened(dead, B, '1');
    const one = ledger();
    const two = ledger();
    assert.deepEqual(ids(one.claim(A, 'p')), ['1']);
    assert.deepEqual(ids(two.claim(A, 'p')), []);
    assert.deepEqual(ids(two.claim(B, 'p')), ['1']);
    assert.deepEqual(ids(one.claim(A, 'somebody else')), ['2']);
    one.settled(A, '1');
    one.settled(A, '2');
    two.settled(B, '1');
    assert.deepEqual(files(), []);
  });

  it('drops what a live process holds under the same id', (t) => {
    verifies('ledger/spares-the-living');
    const { ledger } = scene(t);
    opened(ledger(true), A, 'issued again');
    opened(ledger(), A, 'issued again');
    assert.deepEqual(ids(ledger().claim(A, 'p')), []);
    assert.deepEqual(ledger().list(), []);
  });

  it('is touched every 15 s, and written again when somebody took it', (t) => {
    const { ledger, clock, directory, files } = scene(t);
    opened(ledger(), A, '1');
    const [name = ''] = files();
    utimesSync(join(directory, name), 1, 1);
    clock.advance(15_000);
    assert.ok(statSync(join(directory, name)).mtimeMs > 1_000_000);
    unlinkSync(join(directory, name));
    clock.advance(15_000);
    assert.equal(files().length, 1);
    assert.match(readFileSync(join(directory, files()[0] as string), 'utf8'), /"id":"1"/);
  });

  it('stays short however much is opened and settled', (t) => {
    const { ledger, directory, files } = scene(t);
    const busy = ledger();
    opened(busy, A, 'stays');
    for (let n = 0; n < 2_000; n += 1) {
      opened(busy, A, `${n}`);
      busy.settled(A, `${n}`);
    }
    assert.ok(readFileSync(join(directory, files()[0] as string), 'utf8').split('\n').length < 300);
  });

  it('that is let go is for the next, and still written when something settles after all', (t) => {
    const { ledger, files } = scene(t);
    const first = ledger();
    opened(first, A, '1');
    opened(first, A, '2');
    first.release();
    first.settled(A, '1');
    const second = ledger();
    assert.deepEqual(ids(second.claim(A, 'p')), ['2']);
    second.settled(A, '2');
    assert.deepEqual(files(), []);
  });

  it('gives two processes the same fingerprint, and outsiders none', (t) => {
    const { ledger, directory } = scene(t);
    assert.equal(ledger().fingerprint('alice'), ledger().fingerprint('alice'));
    assert.notEqual(ledger().fingerprint('alice'), ledger().fingerprint('bob'));
    assert.equal(statSync(join(directory, 'principal.key')).mode & 0o777, 0o600);
  });
});

function ids(entries: { id: string }[]): string[] {
  return entries.map(({ id }) => id);
}

describe('the folder', () => {
  it('is where the system keeps a user’s state, or where the environment says', () => {
    assert.equal(defaultDirectory({ MOORING_LEDGER_DIR: '/x' }, 'linux'), '/x');
    assert.equal(defaultDirectory({ XDG_STATE_HOME: '/s' }, 'linux'), '/s/mooring/ledger');
    assert.match(defaultDirectory({}, 'linux'), /\.local\/state\/mooring\/ledger$/);
    assert.match(defaultDirectory({}, 'darwin'), /Library\/Application Support\/mooring\/ledger$/);
    assert.match(defaultDirectory({ LOCALAPPDATA: 'L' }, 'win32'), /^L.mooring.ledger$/);
  });
});
