using Cairn.Indexing;
using Cairn.Server.Connections;

namespace Cairn.Server.Resp;

// Looks ahead over a batch of requests. Each request is read once, here. Its command is found, and the buckets of its keys are fetched,
// then their entries, together with those of other requests and connections. By the time the requests are executed, the data they need is
// in the CPU's cache.
//
//   I1  Requests that were read ahead and not executed are the first of the next input, in order. Their lengths add up to the
//       position at which the reader continues.
//   I2  While there are such requests, the reader only reads further ones (TryReadNext), which keeps their arguments.
internal sealed unsafe partial class RespSession
{
    // The maximum number of requests, so that they are executed before the first data fetched leaves the cache; and of keys, for requests
    // with many keys.
    private const int MaxAheadRequests = 64;
    private const int MaxAheadKeys = 128;

    // The number of keys fetched together in a longer request.
    private const int FetchedTogether = 32;

    private AheadRequest[] _aheadRequests = [];
    private int _aheadNext;
    private int _aheadRead;
    private int _aheadStart;
    private int _aheadKeys;

    public override void Prefetch(ReadOnlySpan<byte> input)
    {
        KeysAhead ahead = _worker.Ahead;
        _aheadStart = ahead.Next;
        _aheadKeys = 0;
        if (_aheadNext < _aheadRead || !_reader.IsAuthenticated)
        {
            return; // Remaining requests were already read. Before authentication, later requests depend on ones not executed yet.
        }

        _aheadNext = _aheadRead = 0;
        bool isSampled = _recorder.Keys.IsWatched;
        int position = 0;
        while (_aheadRead < MaxAheadRequests && _aheadKeys < MaxAheadKeys && position < input.Length)
        {
            ReadOnlySpan<byte> rest = input[position..];
            RespRequest request;
            int length;
            ParseStatus status = _aheadRead == 0
                ? _reader.TryRead(rest, out request, out length)
                : _reader.TryReadNext(rest, out request, out length);
            if (status != ParseStatus.Complete)
            {
                break;
            }

            if (_aheadRead == _aheadRequests.Length)
            {
                Array.Resize(ref _aheadRequests, Math.Max(8, 2 * _aheadRead));
            }

            var arguments = new RespArguments(_reader, rest, request);
            CommandInfo? command = arguments.Count == 0 ? null : Server.Commands.Find(arguments[0]);
            _aheadRequests[_aheadRead++] = new AheadRequest(request, length, command);
            position += length;
            if (command is { FirstKey: > 0, Subcommands.Length: 0 })
            {
                AddKeys(command, arguments, ahead);
                if (isSampled && arguments.Count > command.FirstKey)
                {
                    _recorder.Keys.Add(arguments[command.FirstKey]);
                }
            }
        }
    }

    public override void PrefetchFurther()
    {
        _worker.Ahead.FetchBuckets(Keys.Engine); // The first connection fetches the buckets of all that are served together.
        for (int i = 0; i < _aheadKeys; i++)
        {
            Keys.Engine.PrefetchEntry(_worker.Ahead[_aheadStart + i]);
        }

        _aheadKeys = 0;
    }

    // Looks ahead over requests of the queue. Returns how many were read; 0 at its end.
    private int ReadAhead(RespRequestReader reader, ReadOnlySpan<byte> queued, Span<AheadRequest> group)
    {
        _aheadStart = _worker.Ahead.Next;
        _aheadKeys = 0;
        int count = 0;
        while (count < group.Length && _aheadKeys < MaxAheadKeys
            && (count == 0 ? reader.TryRead(queued, out RespRequest request, out int length) : reader.TryReadNext(queued, out request, out length)) == ParseStatus.Complete)
        {
            var arguments = new RespArguments(reader, queued, request);
            CommandInfo? command = Server.Commands.Find(arguments[0]);
            group[count++] = new AheadRequest(request, length, command);
            if (command is { FirstKey: > 0, Subcommands.Length: 0 })
            {
                AddKeys(command, arguments, _worker.Ahead);
            }

            queued = queued[length..];
        }

        PrefetchFurther();
        return count;
    }

    /// <summary>Fetches the next keys of a request that has more keys than a look-ahead covers.</summary>
    /// <param name="arguments">The request's arguments.</param>
    /// <param name="index">The index of the key that is used next. Call this method for every key.</param>
    /// <param name="first">The index of the first key.</param>
    /// <param name="step">The distance of the keys.</param>
    public void FetchMore(scoped in RespArguments arguments, int index, int first = 1, int step = 1)
    {
        if (arguments.Count <= MaxAheadKeys || (index - first) % (FetchedTogether * step) != 0)
        {
            return;
        }

        KeysAhead ahead = _worker.Ahead;
        int start = ahead.Next;
        int end = Math.Min(index + (FetchedTogether * step), arguments.Count);
        for (int i = index; i < end; i += step)
        {
            ahead.Add(Keys.PlaceOf(arguments[i]));
        }

        int count = (end - index + step - 1) / step;
        ahead.FetchBuckets(Keys.Engine);
        for (int i = 0; i < count; i++)
        {
            Keys.Engine.PrefetchEntry(ahead[start + i]);
        }
    }

    private void AddKeys(CommandInfo command, scoped in RespArguments arguments, KeysAhead ahead)
    {
        int last = Math.Min(command.LastKeyOf(arguments), arguments.Count - 1);
        for (int i = command.FirstKey; i <= last && _aheadKeys < MaxAheadKeys; i += command.KeyStep)
        {
            ReadOnlySpan<byte> key = arguments[i];
            if (!key.IsEmpty)
            {
                ahead.Add(Keys.PlaceOf(key));
                _aheadKeys++;
            }
        }
    }

    private readonly record struct AheadRequest(RespRequest Request, int Length, CommandInfo? Command);
}
