// One connection of a load: it builds requests, and finds the ends of the replies. It performs no I/O, and only one worker uses it.
//
// Requests without a reply are in a ring, the oldest first; replies arrive in that order. A reply consists of lines, some followed by
// data:
//
//   AtLine --line that ends the request--> AtLine, the next request
//          --line with a length--> InData --that many bytes--> AtLine
//
// Lines are read in place, in the input buffer. Data is only counted, or compared when values are verified. A line that arrives in several
// parts is assembled in a small buffer of the connection.
//
// In a closed loop, a connection sends its whole pipeline at once and waits for all replies before it sends again. In an open loop, at a
// given rate, the worker reports when the next request is due. Its latency counts from that time even if it is sent later. So a server that
// stalls is charged for all requests that had to wait. Ignoring them is known as coordinated omission.
using Cairn.Cli.Clients;
using Cairn.Protocol;
using Cairn.Server.Metrics;

namespace Cairn.Cli.Load;

internal sealed class LoadConnection
{
    private const int MaxLineBytes = 4096;

    private readonly LoadPlan _plan;
    private readonly ServerProtocol _protocol;
    private readonly RequestForms _forms;
    private readonly LoadValues _values;
    private readonly LoadCounters _counters;
    private readonly ServerErrors _errors;
    private readonly KeyChooser _chooser;
    private readonly uint[] _someKeys;

    // The ring. The keys of a get with several keys are only needed for verification.
    private readonly Request[] _ring;
    private readonly uint[] _ringKeys;
    private uint _oldest;
    private uint _next;

    private readonly byte[] _partialLine = new byte[MaxLineBytes];
    private int _partialBytes;
    private long _dataLeft;
    private uint _dataKey;
    private int _dataPosition;
    private bool _isDataChecked;
    private bool _endsWithData;
    private int _elementsLeft;
    private int _keysAnswered;
    private long _getsInThisPiece;
    private long _setsInThisPiece;

    private LoadJob _job = null!;
    private int _batchLeft;
    private long _batchFirst;
    private long _batchStartedAt;
    private long _due;
    private double _intendedAt;
    private double _intendedStep;

    /// <summary>Creates a connection for all jobs of a load.</summary>
    /// <param name="plan">The plan of the load.</param>
    /// <param name="protocol">The protocol of the server.</param>
    /// <param name="number">The number of this connection among all connections.</param>
    /// <param name="longestPipeline">The longest pipeline of any job.</param>
    /// <param name="forms">The forms of requests.</param>
    /// <param name="values">The values of the keys.</param>
    /// <param name="counters">The counters of the worker.</param>
    /// <param name="errors">Counts errors of the server.</param>
    public LoadConnection(
        LoadPlan plan, ServerProtocol protocol, int number, int longestPipeline, RequestForms forms, LoadValues values, LoadCounters counters, ServerErrors errors)
    {
        _plan = plan;
        _protocol = protocol;
        Number = number;
        _forms = forms;
        _values = values;
        _counters = counters;
        _errors = errors;
        _chooser = new KeyChooser(plan.Keys, plan.ZipfExponent, (plan.Seed * 0x9E3779B97F4A7C15) + ((ulong)number << 32));
        _someKeys = new uint[plan.KeysPerGet];
        _ring = new Request[BitOperations.RoundUpToPowerOf2((uint)longestPipeline)];
        _ringKeys = plan is { IsVerified: true, KeysPerGet: > 1 } ? new uint[_ring.Length * plan.KeysPerGet] : [];
    }

    private enum Kind : byte
    {
        Get,
        Set,
        Remove,
    }

    public int Number { get; }

    /// <summary>Gets the number of requests that were built and have no reply.</summary>
    public int UnderWay => (int)(_next - _oldest);

    /// <summary>Gets input from the server that is not a reply; null if there was none. Later input cannot be parsed.</summary>
    public string? ProtocolViolation { get; private set; }

    /// <summary>Begins a job.</summary>
    public void Begin(LoadJob job)
    {
        _job = job;
        _batchLeft = 0;
        _due = 0;
        if (job.RequestsPerSecond is { } rate)
        {
            // Connections take turns.
            _intendedStep = 1e9 / rate * _plan.Connections;
            _intendedAt = job.StartedAt + (1e9 / rate * Number);
        }
    }

    /// <summary>Reports that another request is due.</summary>
    public void Due() => _due++;

    /// <summary>Discards the requests without a reply. Another connection cannot receive their replies.</summary>
    public void Reset()
    {
        int lost = UnderWay;
        _counters.LostRequests += lost;
        _intendedAt += lost * _intendedStep;
        _oldest = _next;
        _batchLeft = 0;
        _partialBytes = 0;
        _dataLeft = 0;
        _endsWithData = false;
        _elementsLeft = 0;
        _keysAnswered = 0;
        ProtocolViolation = null;
    }

    /// <summary>Builds the requests that may be sent now.</summary>
    /// <param name="output">The buffer for the requests, with space for at least one.</param>
    /// <param name="now">The present time.</param>
    /// <returns>The number of bytes; 0 if the connection has to wait before it sends again.</returns>
    public int Build(Span<byte> output, long now)
    {
        int written = 0;
        while (output.Length - written >= _forms.MaxRequestBytes && TryTake(now, out long number))
        {
            ref Request request = ref _ring[_next & (uint)(_ring.Length - 1)];
            written += BuildOne(ref request, number, output[written..]);
            _next++;
        }

        _counters.BytesSent += written;
        return written;
    }

    /// <summary>Scans input from the server.</summary>
    /// <returns>False if the input does not conform to the protocol. <see cref="ProtocolViolation"/> then contains its beginning.</returns>
    public bool Receive(ReadOnlySpan<byte> input, long now)
    {
        _counters.BytesReceived += input.Length;
        while (!input.IsEmpty)
        {
            if (_dataLeft > 0)
            {
                int count = (int)Math.Min(_dataLeft, input.Length);
                OnData(input[..count], now);
                input = input[count..];
                continue;
            }

            int end = input.IndexOf((byte)'\n');
            if (_partialBytes == 0 && end >= 0)
            {
                OnLine(input[..end], now);
            }
            else
            {
                int count = end < 0 ? input.Length : end;
                if (count > MaxLineBytes - _partialBytes)
                {
                    Confuse(input);
                    break;
                }

                input[..count].CopyTo(_partialLine.AsSpan(_partialBytes));
                _partialBytes += count;
                if (end < 0)
                {
                    break;
                }

                int length = _partialBytes;
                _partialBytes = 0;
                OnLine(_partialLine.AsSpan(0, length), now);
            }

            if (ProtocolViolation is not null)
            {
                break;
            }

            input = input[(end + 1)..];
        }

        if (_getsInThisPiece > 0)
        {
            _counters.GetLatencies.Record(now - _batchStartedAt, _getsInThisPiece);
            _getsInThisPiece = 0;
        }

        if (_setsInThisPiece > 0)
        {
            _counters.SetLatencies.Record(now - _batchStartedAt, _setsInThisPiece);
            _setsInThisPiece = 0;
        }

        return ProtocolViolation is null;
    }

    // --- Requests ---
    private bool TryTake(long now, out long number)
    {
        number = 0;
        if (_job.RequestsPerSecond is not null)
        {
            if (_due == 0 || UnderWay >= _job.Pipeline || _job.Take(1, out number) == 0)
            {
                return false;
            }

            _due--;
            return true;
        }

        if (_batchLeft == 0)
        {
            if (UnderWay > 0)
            {
                return false;
            }

            _batchLeft = _job.Take(_job.Pipeline, out _batchFirst);
            _batchStartedAt = now;
            if (_batchLeft == 0)
            {
                return false;
            }
        }

        number = _batchFirst++;
        _batchLeft--;
        return true;
    }

    private int BuildOne(ref Request request, long number, Span<byte> output)
    {
        if (_job.Step != LoadStep.Mix)
        {
            request.Key = (uint)number;
            request.Kind = _job.Step == LoadStep.Fill ? Kind.Set : Kind.Remove;
            return request.Kind == Kind.Set ? _forms.WriteSet(request.Key, output) : _forms.WriteRemove(request.Key, output);
        }

        const uint Percent = 100;
        if (_plan.SetPercent > 0 && _chooser.NextBelow(Percent) < _plan.SetPercent)
        {
            request.Kind = Kind.Set;
            request.Key = _chooser.NextKey();
            return _forms.WriteSet(request.Key, output);
        }

        request.Kind = Kind.Get;
        foreach (ref uint key in _someKeys.AsSpan())
        {
            key = _chooser.NextKey();
        }

        request.Key = _someKeys[0];
        if (_ringKeys.Length > 0)
        {
            _someKeys.CopyTo(RingKeys(_next));
        }

        return _forms.WriteGet(_someKeys, output);
    }

    // --- Replies ---
    private void OnLine(ReadOnlySpan<byte> line, long now)
    {
        if (line.EndsWith((byte)'\r'))
        {
            line = line[..^1];
        }

        if (UnderWay == 0 || line.IsEmpty)
        {
            Confuse(line);
            return;
        }

        ref Request request = ref _ring[_oldest & (uint)(_ring.Length - 1)];
        if (_protocol == ServerProtocol.Resp)
        {
            OnRespLine(ref request, line, now);
        }
        else
        {
            OnMemcachedLine(ref request, line, now);
        }
    }

    private void OnRespLine(ref Request request, ReadOnlySpan<byte> line, long now)
    {
        switch (line[0])
        {
            case (byte)'$' when request.Kind == Kind.Get && DecimalText.TryParseInt64(line[1..], out long bytes):
                if (bytes < 0)
                {
                    OnElement(ref request, isHit: false, now);
                    break;
                }

                BeginData(KeyNumber(ref request, _keysAnswered), bytes, endsRequest: true);
                break;
            case (byte)'*' when request.Kind == Kind.Get && _plan.KeysPerGet > 1 && _elementsLeft == 0
                && DecimalText.TryParseInt64(line[1..], out long elements) && elements == _plan.KeysPerGet:
                _elementsLeft = _plan.KeysPerGet;
                break;
            case (byte)'_' when request.Kind == Kind.Get:
                OnElement(ref request, isHit: false, now);
                break;
            case (byte)'+' when request.Kind == Kind.Set:
            case (byte)':' when request.Kind == Kind.Remove:
                Complete(ref request, now);
                break;
            case (byte)'-':
                Fail(ref request, line[1..], now);
                break;
            default:
                Confuse(line);
                break;
        }
    }

    // Counts an element of an MGET reply, or the whole reply of a GET.
    private void OnElement(ref Request request, bool isHit, long now)
    {
        _counters.Hits += isHit ? 1 : 0;
        _keysAnswered++;
        if (_elementsLeft > 0)
        {
            _elementsLeft--;
        }

        if (_elementsLeft == 0)
        {
            Complete(ref request, now);
        }
    }

    private void OnMemcachedLine(ref Request request, ReadOnlySpan<byte> line, long now)
    {
        if (request.Kind == Kind.Get)
        {
            if (line.StartsWith("VALUE "u8))
            {
                // VALUE KEY FLAGS BYTES
                ReadOnlySpan<byte> key = line["VALUE ".Length..];
                OnValueLine(ref request, key, line[(line.LastIndexOf((byte)' ') + 1)..], endsRequest: false);
                return;
            }

            if (line.StartsWith("VA "u8))
            {
                // VA BYTES, and kKEY if there are several
                ReadOnlySpan<byte> rest = line["VA ".Length..];
                int space = rest.IndexOf((byte)' ');
                ReadOnlySpan<byte> key = space < 0 ? default : rest[(space + " k".Length)..];
                OnValueLine(ref request, key, space < 0 ? rest : rest[..space], endsRequest: _plan.KeysPerGet == 1);
                return;
            }
        }

        bool isDone = request.Kind switch
        {
            Kind.Get => line.SequenceEqual("END"u8) || line.SequenceEqual("EN"u8) || line.SequenceEqual("MN"u8),
            Kind.Set => line.SequenceEqual("STORED"u8) || line.StartsWith("HD"u8),
            _ => line.SequenceEqual("DELETED"u8) || line.SequenceEqual("NOT_FOUND"u8) || line.StartsWith("HD"u8) || line.StartsWith("NF"u8),
        };
        if (isDone)
        {
            Complete(ref request, now);
        }
        else if (line.StartsWith("ERROR"u8) || line.StartsWith("CLIENT_ERROR"u8) || line.StartsWith("SERVER_ERROR"u8)
            || line.SequenceEqual("NOT_STORED"u8) || line.StartsWith("NS"u8))
        {
            Fail(ref request, line, now);
        }
        else
        {
            Confuse(line);
        }
    }

    private void OnValueLine(ref Request request, ReadOnlySpan<byte> key, ReadOnlySpan<byte> size, bool endsRequest)
    {
        if (!DecimalText.TryParseInt64(size, out long bytes) || bytes < 0)
        {
            Confuse(size);
            return;
        }

        uint number = request.Key;
        if (_plan.IsVerified && !key.IsEmpty && !TryFindKey(ref request, key, out number))
        {
            BeginData(number, bytes, endsRequest);
            _counters.WrongValues += _isDataChecked ? 1 : 0;
            _isDataChecked = false;
            return;
        }

        BeginData(number, bytes, endsRequest);
    }

    // memcached leaves out missing keys, and returns the others in the order of the request.
    private bool TryFindKey(ref Request request, ReadOnlySpan<byte> key, out uint number)
    {
        number = request.Key;
        if (key.Length < LoadPlan.KeyPrefix.Length + LoadPlan.KeyDigits
            || !LoadValues.TryReadDigits(key.Slice(LoadPlan.KeyPrefix.Length, LoadPlan.KeyDigits), out uint digits))
        {
            return false;
        }

        while (_keysAnswered < _plan.KeysPerGet)
        {
            number = KeyNumber(ref request, _keysAnswered++);
            if (number == digits)
            {
                return true;
            }
        }

        return false;
    }

    private uint KeyNumber(ref Request request, int index) => _ringKeys.Length > 0 ? RingKeys(_oldest)[index] : request.Key;

    private Span<uint> RingKeys(uint place) =>
        _ringKeys.AsSpan((int)(place & (uint)(_ring.Length - 1)) * _plan.KeysPerGet, _plan.KeysPerGet);

    private void BeginData(uint key, long bytes, bool endsRequest)
    {
        const int LineEnd = 2;
        _dataLeft = bytes + LineEnd;
        _endsWithData = endsRequest;
        if (_plan.IsVerified)
        {
            _dataKey = key;
            _dataPosition = 0;
            _isDataChecked = bytes == _values.SizeOf(key);
            _counters.WrongValues += _isDataChecked ? 0 : 1;
        }
    }

    private void OnData(ReadOnlySpan<byte> piece, long now)
    {
        if (_plan.IsVerified)
        {
            Verify(piece);
        }

        _dataLeft -= piece.Length;
        if (_dataLeft > 0)
        {
            return;
        }

        if (_endsWithData)
        {
            OnElement(ref _ring[_oldest & (uint)(_ring.Length - 1)], isHit: true, now);
        }
        else
        {
            _counters.Hits++;
        }
    }

    private void Verify(ReadOnlySpan<byte> piece)
    {
        if (!_isDataChecked)
        {
            return;
        }

        // The line end is not part of the value.
        ReadOnlySpan<byte> value = piece[..(int)Math.Min(piece.Length, Math.Max(0, _dataLeft - 2))];
        if (!_values.Matches(_dataKey, _dataPosition, value))
        {
            _counters.WrongValues++;
            _isDataChecked = false;
        }

        _dataPosition += value.Length;
    }

    // An error is neither a get nor a set, but its request still has a latency.
    private void Fail(ref Request request, ReadOnlySpan<byte> line, long now)
    {
        _counters.Errors++;
        _errors.Count(line);
        _elementsLeft = 0;
        End(ref request, now);
    }

    private void Complete(ref Request request, long now)
    {
        switch (request.Kind)
        {
            case Kind.Get:
                _counters.Gets += _plan.KeysPerGet;
                break;
            case Kind.Set:
                _counters.Sets++;
                break;
            default:
                _counters.Removals++;
                break;
        }

        End(ref request, now);
    }

    private void End(ref Request request, long now)
    {
        _oldest++;
        _keysAnswered = 0;
        _endsWithData = false;
        _counters.Requests++;
        if (_job.RequestsPerSecond is not null)
        {
            LatencyHistogram latencies = request.Kind == Kind.Get ? _counters.GetLatencies : _counters.SetLatencies;
            latencies.Record(now - (long)_intendedAt, 1);
            _intendedAt += _intendedStep;
        }
        else if (request.Kind == Kind.Get)
        {
            _getsInThisPiece++;
        }
        else
        {
            _setsInThisPiece++;
        }
    }

    private void Confuse(ReadOnlySpan<byte> line)
    {
        const int Most = 60;
        ProtocolViolation = Output.KeyText.Escape(line[..Math.Min(line.Length, Most)].ToArray());
    }

    private struct Request
    {
        public uint Key;
        public Kind Kind;
    }
}
