using Cairn.Cli.Clients;
using Cairn.Protocol;

namespace Cairn.Cli.Load;

// The requests of a protocol, prebuilt except for the numbers of keys and the values. All parts are copies of known length, so building a
// request takes a few nanoseconds.
internal sealed class RequestForms
{
    private const int MaxSizeDigits = 12;

    private readonly LoadValues _values;
    private readonly int _keysPerGet;
    private readonly byte[] _getHead;
    private readonly byte[] _keyHead;
    private readonly byte[] _keyTail;
    private readonly byte[] _getTail;
    private readonly byte[] _setHead;
    private readonly byte[] _setMiddle;
    private readonly byte[] _removeHead;

    public RequestForms(ServerProtocol protocol, LoadPlan plan, LoadValues values)
    {
        _values = values;
        _keysPerGet = plan.KeysPerGet;
        bool isMany = plan.KeysPerGet > 1;
        string prefix = LoadPlan.KeyPrefix;
        string bulk = string.Create(CultureInfo.InvariantCulture, $"${prefix.Length + LoadPlan.KeyDigits}\r\n{prefix}");
        string array = string.Create(CultureInfo.InvariantCulture, $"*{plan.KeysPerGet + 1}\r\n");
        (string getHead, string keyHead, string keyTail, string getTail, string setHead, string setMiddle, string removeHead) = protocol switch
        {
            ServerProtocol.Memcached => ("get", $" {prefix}", "", "\r\n", $"set {prefix}", " 0 0 ", $"delete {prefix}"),

            // With several keys, the server does not answer misses, and the reply to mn marks the end.
            ServerProtocol.Meta => ("", $"mg {prefix}", isMany ? " v k q\r\n" : " v\r\n", isMany ? "mn\r\n" : "", $"ms {prefix}", " ", $"md {prefix}"),
            _ => ($"{array}{(isMany ? "$4\r\nMGET\r\n" : "$3\r\nGET\r\n")}", bulk, "\r\n", "", $"*3\r\n$3\r\nSET\r\n{bulk}", "\r\n$", $"*2\r\n$3\r\nDEL\r\n{bulk}"),
        };
        _getHead = Encoding.ASCII.GetBytes(getHead);
        _keyHead = Encoding.ASCII.GetBytes(keyHead);
        _keyTail = Encoding.ASCII.GetBytes(keyTail);
        _getTail = Encoding.ASCII.GetBytes(getTail);
        _setHead = Encoding.ASCII.GetBytes(setHead);
        _setMiddle = Encoding.ASCII.GetBytes(setMiddle);
        _removeHead = Encoding.ASCII.GetBytes(removeHead);
        MaxSetBytes = _setHead.Length + LoadPlan.KeyDigits + _setMiddle.Length + MaxSizeDigits + plan.MaxValueBytes + 2;
        MaxRequestBytes = Math.Max(
            MaxSetBytes,
            _getHead.Length + (_keysPerGet * (_keyHead.Length + LoadPlan.KeyDigits + _keyTail.Length)) + _getTail.Length);
    }

    /// <summary>Gets the maximum length of a request in bytes.</summary>
    public int MaxRequestBytes { get; }

    private int MaxSetBytes { get; }

    /// <summary>Writes a get.</summary>
    /// <returns>The number of bytes written.</returns>
    public int WriteGet(ReadOnlySpan<uint> keys, Span<byte> destination)
    {
        Span<byte> rest = Append(destination, _getHead);
        foreach (uint key in keys)
        {
            rest = Append(AppendKey(Append(rest, _keyHead), key), _keyTail);
        }

        return destination.Length - Append(rest, _getTail).Length;
    }

    public int WriteSet(uint key, Span<byte> destination)
    {
        int size = _values.SizeOf(key);
        Span<byte> rest = Append(AppendKey(Append(destination, _setHead), key), _setMiddle);
        rest = Append(rest[DecimalText.Format(size, rest)..], "\r\n"u8);
        _values.Write(key, rest[..size]);
        return destination.Length - Append(rest[size..], "\r\n"u8).Length;
    }

    public int WriteRemove(uint key, Span<byte> destination) =>
        destination.Length - Append(AppendKey(Append(destination, _removeHead), key), "\r\n"u8).Length;

    private static Span<byte> Append(Span<byte> destination, ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(destination);
        return destination[bytes.Length..];
    }

    private static Span<byte> AppendKey(Span<byte> destination, uint key)
    {
        LoadValues.WriteDigits(key, destination);
        return destination[LoadPlan.KeyDigits..];
    }
}
