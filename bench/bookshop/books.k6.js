// The load of `bench/run bookshop` for users of k6. 30,000 requests arrive each second for a minute, even if the API is too slow for them.
//
//   samples/Bookshop/run --path hybrid          (in one terminal)
//   k6 run bench/bookshop/books.k6.js           (in another)
//
// The option -e sets BASE_URL and BOOKS: k6 run -e BASE_URL=http://127.0.0.1:5080 -e BOOKS=100000 bench/bookshop/books.k6.js
import http from 'k6/http';
import { check } from 'k6';

const baseUrl = __ENV.BASE_URL || 'http://127.0.0.1:5080';
const books = Number(__ENV.BOOKS || 100000);

export const options = {
  scenarios: {
    books: {
      executor: 'constant-arrival-rate',
      rate: 30000,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 20,
      maxVUs: 100,
    },
  },
  summaryTrendStats: ['avg', 'med', 'p(95)', 'p(99)', 'max'],
  thresholds: {
    http_req_failed: ['rate==0'],
    checks: ['rate==1'],
  },
};

// Some books are requested much more often than others: approximately Zipf's law with exponent 1, by inverting its continuous form.
function popularBook() {
  const rank = Math.min(books, Math.floor(Math.exp(Math.random() * Math.log(books + 1))));
  return ((rank * 7919) % books) + 1;
}

export default function () {
  const id = popularBook();
  const response = http.get(`${baseUrl}/api/books/${id}`, { tags: { name: 'GET /api/books/{id}' } });
  check(response, { 'it is the book': (r) => r.status === 200 && r.json('id') === id });
}
