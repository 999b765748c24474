-- The requests of wrk: books by id, some much more often than others, as in a shop (Zipf, exponent 0.99).
--
--   wrk -t1 -c64 -d5s --latency -s books.lua http://127.0.0.1:5080 -- /api/books/ 100000
--
-- The first argument is the part of the path before the id. The second is the number of books. Without the second, wrk requests the first as it is.
-- The third is the number of requests to leave out at first. A generator with a fixed seed draws the ids before the load begins. So every server
-- in every run gets requests for the same books in the same order.

local DRAWS = 65536
local EXPONENT = 0.99
local requests = {}
local next_request = 0

local function draw_zipf(count)
  local sums, sum = {}, 0
  for rank = 1, count do
    sum = sum + 1 / rank ^ EXPONENT
    sums[rank] = sum
  end

  local state = 42
  local ids = {}
  for i = 1, DRAWS do
    -- Lehmer's generator, with Park's and Miller's numbers: exact in a double.
    state = (state * 16807) % 2147483647
    local target = state / 2147483647 * sum
    local low, high = 1, count
    while low < high do
      local middle = math.floor((low + high) / 2)
      if sums[middle] < target then low = middle + 1 else high = middle end
    end

    -- Popular books are spread over the table. They are not all at its beginning.
    ids[i] = (low * 7919) % count + 1
  end

  return ids
end

function init(args)
  local path = args[1] or "/api/books/"
  if args[2] then
    for i, id in ipairs(draw_zipf(tonumber(args[2]))) do
      requests[i] = wrk.format("GET", path .. string.format("%d", id))
    end

    next_request = tonumber(args[3] or "0")
  else
    requests[1] = wrk.format("GET", path)
  end
end

function request()
  next_request = next_request % #requests + 1
  return requests[next_request]
end

-- One line for programs: requests, microseconds, errors, and latencies in microseconds.
function done(summary, latency)
  local errors = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout
  io.write(string.format(
    "result %d %d %d %d %d\n", summary.requests, summary.duration, errors, latency:percentile(50), latency:percentile(99)))
end
