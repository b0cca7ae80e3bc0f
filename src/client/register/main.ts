/**
 * `import 'mooring/register'`: the preload, for who imports it.
 */
import './preload.cjs';
