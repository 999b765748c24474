using System.Buffers;
using System.Buffers.Text;
using System.Runtime.InteropServices;

namespace Cairn.Protocol;

/// <summary>
/// One request of memcached's text protocol. Its ranges point into the input it was read from; it owns nothing, so it may be
/// kept for as long as the input may. What a command does not have is zero.
/// </summary>
[StructLayout(LayoutKind.Auto)]
public struct MemcachedRequest
{
    /// <summary>The command, as far as it is known: a malformed request may have one too.</summary>
    public MemcachedCommand Command { get; internal set; }

    /// <summary>
    /// What to answer a malformed request, unless <see cref="IsNoReply"/> forbids. With <see cref="ParseStatus.Fatal"/>: what
    /// to say before closing; some errors have no text.
    /// </summary>
    public MemcachedError Error { get; internal set; }

    /// <summary>
    /// The client asked for no reply with <c>noreply</c>, which keeps back errors too, as memcached does. The meta commands'
    /// <c>q</c> is <see cref="MemcachedMetaFlags.Quiet"/> and keeps back no error.
    /// </summary>
    public bool IsNoReply { get; internal set; }

    /// <summary>
    /// The letter of a meta command's <c>M</c>, in its plain form, 0 if there was none: of <c>ms</c> one of
    /// <c>E A P R S</c>, of <c>ma</c> <c>I</c> or <c>D</c> (also for <c>+</c> and <c>-</c>).
    /// </summary>
    public byte Mode { get; internal set; }

    /// <summary>The key, or the first of them. Base64 if <see cref="MetaFlags"/> says so; then <see cref="TryDecodeKey"/> has it.</summary>
    public ByteRange Key { get; internal set; }

    /// <summary>
    /// The words after the command: the keys of the <c>get</c> family, the flags of a meta command, all arguments of
    /// the commands that manage the server. <see cref="EnumerateArguments"/> goes through them.
    /// </summary>
    public ByteRange Arguments { get; internal set; }

    /// <summary>How many words <see cref="Arguments"/> holds; at most 23 where they are not keys.</summary>
    public int ArgumentCount { get; internal set; }

    /// <summary>The data block, without its line end.</summary>
    public ByteRange Value { get; internal set; }

    /// <summary>Bytes of the command line with its end.</summary>
    public int LineBytes { get; internal set; }

    /// <summary>
    /// Bytes after the consumed line that belong to the malformed request and are to be skipped, as they arrive, before the
    /// next request is read. Not all of them may be in the input yet.
    /// </summary>
    public int SkipBytes { get; internal set; }

    /// <summary>The client's flags of a storage command or of <c>F</c>.</summary>
    public uint ClientFlags { get; internal set; }

    /// <summary>
    /// The expiration of a storage command, <c>touch</c>, <c>gat</c> or <c>T</c>, or the delay of <c>flush_all</c>, as it was
    /// written: 0 is never, negative is at once, up to 30 days is from now, more is a Unix time.
    /// </summary>
    public long ExpirationSeconds { get; internal set; }

    /// <summary>The version to compare with, of <c>cas</c> or of <c>C</c>.</summary>
    public ulong Version { get; internal set; }

    /// <summary>
    /// By how much to count: of <c>incr</c>, <c>decr</c> or <c>D</c>; 1 for <c>ma</c> without it. Also the number of
    /// <c>verbosity</c> and <c>cache_memlimit</c>.
    /// </summary>
    public ulong Delta { get; internal set; }

    /// <summary>The value that <c>ma</c> gives an entry it creates, of <c>J</c>.</summary>
    public ulong InitialValue { get; internal set; }

    /// <summary>The expiration of an entry created for a miss, of <c>N</c>; in the form of <see cref="ExpirationSeconds"/>.</summary>
    public long VivifySeconds { get; internal set; }

    /// <summary>The time of <c>R</c>; in the form of <see cref="ExpirationSeconds"/>.</summary>
    public long RecacheSeconds { get; internal set; }

    /// <summary>The token of <c>O</c> without the letter.</summary>
    public ByteRange Opaque { get; internal set; }

    /// <summary>The flags a meta command carried.</summary>
    public MemcachedMetaFlags MetaFlags { get; internal set; }

    /// <summary>True for the commands with a data block.</summary>
    public readonly bool HasValue => Command is >= MemcachedCommand.Set and <= MemcachedCommand.Cas or MemcachedCommand.MetaSet;

    /// <summary>
    /// Bytes of the whole request, data block and line ends included: how many the input must hold for it to be
    /// complete. 0 while the line's end is not there.
    /// </summary>
    public readonly long TotalBytes => HasValue ? (long)LineBytes + Value.Length + 2 : LineBytes;

    /// <summary>True if the key is base64 text.</summary>
    public readonly bool IsBase64Key => (MetaFlags & MemcachedMetaFlags.Base64Key) != 0;

    /// <summary>The words of <see cref="Arguments"/>.</summary>
    /// <param name="input">The input the request was read from.</param>
    public readonly MemcachedTokens EnumerateArguments(ReadOnlySpan<byte> input) => new(Arguments.Of(input));

    /// <summary>Whether all these flags were given.</summary>
    /// <param name="flags">One flag or several.</param>
    public readonly bool Has(MemcachedMetaFlags flags) => (MetaFlags & flags) == flags;

    /// <summary>Decodes a key that is base64.</summary>
    /// <param name="input">The input the request was read from.</param>
    /// <param name="destination">At least <see cref="MemcachedReader.MaxKeyBytes"/> bytes.</param>
    /// <param name="bytesWritten">Length of the key.</param>
    /// <returns><see langword="false"/> if it is no base64, which the reader has reported already.</returns>
    public readonly bool TryDecodeKey(ReadOnlySpan<byte> input, Span<byte> destination, out int bytesWritten) =>
        Base64.DecodeFromUtf8(Key.Of(input), destination, out _, out bytesWritten) == OperationStatus.Done && bytesWritten > 0;
}
