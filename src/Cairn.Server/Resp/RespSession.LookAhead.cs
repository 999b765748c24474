using Cairn.Indexing;
using Cairn.Protocol;
using Cairn.Server.Connections;

namespace Cairn.Server.Resp;

// Looking ahead over a batch of requests. Each is read once, here; its command is found, and the buckets of its keys are fetched,
// then the entries, while those of other requests and connections are. Executing takes the requests in turn, and by then what
// they need is in the cache.
//
//   I1  Requests that were read ahead and not executed are the first of the next input, in order. Their lengths add up to where the
//       reader goes on.
//   I2  While there are such requests, the reader only reads further ones (TryReadNext), which keeps their arguments.
internal sealed unsafe partial class RespSession
{
    // Requests, as many as are executed before the first one fetched is evicted from the cache again; and keys, of those with many.
    private const int MaxAheadRequests = 64;
    private const int MaxAheadKeys = 128;

    // Keys of a longer request.
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
            return; // What is left was looked at; and what may be sent depends on requests that were not executed.
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
            CommandInfo? command = arguments.Count == 0 ? null : CommandTable.Find(arguments[0]);
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
        _worker.Ahead.FetchBuckets(Keys.Engine); // Of all connections that are served together, when the first of them comes here.
        for (int i = 0; i < _aheadKeys; i++)
        {
            Keys.Engine.PrefetchEntry(_worker.Ahead[_aheadStart + i]);
        }

        _aheadKeys = 0;
    }

    /// <summary>Has the next keys of a request fetched that has more than are looked ahead over.</summary>
    /// <param name="arguments">The request's.</param>
    /// <param name="index">The key that is used next. Call with every one.</param>
    public void FetchMore(scoped in RespArguments arguments, int index)
    {
        if (arguments.Count <= MaxAheadKeys || index % FetchedTogether != 1)
        {
            return;
        }

        KeysAhead ahead = _worker.Ahead;
        int start = ahead.Next;
        int end = Math.Min(index + FetchedTogether, arguments.Count);
        for (int i = index; i < end; i++)
        {
            ahead.Add(Keys.PlaceOf(arguments[i]));
        }

        ahead.FetchBuckets(Keys.Engine);
        for (int i = 0; i < end - index; i++)
        {
            Keys.Engine.PrefetchEntry(ahead[start + i]);
        }
    }

    private void AddKeys(CommandInfo command, scoped in RespArguments arguments, KeysAhead ahead)
    {
        int last = Math.Min(command.LastKeyOf(arguments.Count), arguments.Count - 1);
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
