export { isMooringError, MooringError } from './errors.js';
