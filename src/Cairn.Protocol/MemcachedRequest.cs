using System.Buffers.Text;

namespace Cairn.Protocol;

/// <summary>
/// One request of memcached's text protocol. Its ranges point into the input that it was read from. It owns no memory, so it is valid as
/// long as the input. A property that does not apply to a command is zero.
/// </summary>
[StructLayout(LayoutKind.Auto)]
internal struct MemcachedRequest
{
    /// <summary>Gets the command. A malformed request has one if the reader recognised it.</summary>
    public MemcachedCommand Command { get; internal set; }

    /// <summary>
    /// Gets the error to reply with to a malformed request, unless <see cref="IsNoReply"/> is set. With <see cref="ParseStatus.Fatal"/>,
    /// the error to send before closing the connection; some errors have no text.
    /// </summary>
    public MemcachedError Error { get; internal set; }

    /// <summary>
    /// Gets a value that says whether the client set <c>noreply</c>, which also suppresses errors, as in memcached. The flag <c>q</c> of
    /// meta commands is <see cref="MemcachedMetaFlags.Quiet"/> and does not suppress errors.
    /// </summary>
    public bool IsNoReply { get; internal set; }

    /// <summary>
    /// Gets the mode of a meta command's <c>M</c>, 0 if there was none: for <c>ms</c> one of <c>E A P R S</c>, for <c>ma</c> <c>I</c> or
    /// <c>D</c> (also for <c>+</c> and <c>-</c>). Other spellings are mapped to these letters.
    /// </summary>
    public byte Mode { get; internal set; }

    /// <summary>
    /// Gets the key, or the first of several. If <see cref="MetaFlags"/> marks it as base64, <see cref="TryDecodeKey"/> decodes it.
    /// </summary>
    public ByteRange Key { get; internal set; }

    /// <summary>
    /// Gets the words after the command: the keys of the <c>get</c> family, the flags of a meta command, or all arguments of a command that
    /// manages the server. <see cref="EnumerateArguments"/> enumerates them.
    /// </summary>
    public ByteRange Arguments { get; internal set; }

    /// <summary>Gets the number of words in <see cref="Arguments"/>; at most 23 unless they are keys.</summary>
    public int ArgumentCount { get; internal set; }

    /// <summary>Gets the data block without its line end.</summary>
    public ByteRange Value { get; internal set; }

    /// <summary>Gets the length of the command line with its end, in bytes.</summary>
    public int LineBytes { get; internal set; }

    /// <summary>
    /// Gets the number of bytes after the consumed line that belong to a malformed request. The caller skips them before it reads the next
    /// request. Not all of them may have arrived yet.
    /// </summary>
    public int SkipBytes { get; internal set; }

    /// <summary>Gets the client flags of a storage command or of <c>F</c>.</summary>
    public uint ClientFlags { get; internal set; }

    /// <summary>
    /// Gets the expiration of a storage command, <c>touch</c>, <c>gat</c> or <c>T</c>, or the delay of <c>flush_all</c>, as the client
    /// wrote it. 0 means never, a negative value at once, a value up to 30 days an offset from now, and a larger value a Unix time.
    /// </summary>
    public long ExpirationSeconds { get; internal set; }

    /// <summary>Gets the version to compare with, from <c>cas</c> or <c>C</c>.</summary>
    public ulong Version { get; internal set; }

    /// <summary>Gets the version for the entry that the command writes, from <c>E</c>; 0 if the server chooses it.</summary>
    public ulong ChosenVersion { get; internal set; }

    /// <summary>
    /// Gets the delta of <c>incr</c>, <c>decr</c> or <c>D</c>; 1 for <c>ma</c> without <c>D</c>. Also the number of <c>verbosity</c> and
    /// <c>cache_memlimit</c>.
    /// </summary>
    public ulong Delta { get; internal set; }

    /// <summary>Gets the value of an entry that <c>ma</c> creates, from <c>J</c>.</summary>
    public ulong InitialValue { get; internal set; }

    /// <summary>Gets the expiration of an entry that a miss creates, from <c>N</c>, in the form of <see cref="ExpirationSeconds"/>.</summary>
    public long VivifySeconds { get; internal set; }

    /// <summary>Gets the time of <c>R</c>, in the form of <see cref="ExpirationSeconds"/>.</summary>
    public long RecacheSeconds { get; internal set; }

    /// <summary>Gets the token of <c>O</c> without the letter.</summary>
    public ByteRange Opaque { get; internal set; }

    /// <summary>Gets the flags of a meta command.</summary>
    public MemcachedMetaFlags MetaFlags { get; internal set; }

    /// <summary>Gets a value that says whether the command has a data block.</summary>
    public readonly bool HasValue => Command is >= MemcachedCommand.Set and <= MemcachedCommand.Cas or MemcachedCommand.MetaSet;

    /// <summary>
    /// Gets the length of the whole request in bytes, including data block and line ends. The request is complete when the input is at
    /// least this long. 0 while the line is incomplete.
    /// </summary>
    public readonly long TotalBytes => HasValue ? (long)LineBytes + Value.Length + 2 : LineBytes;

    /// <summary>Gets a value that says whether the key is base64 text.</summary>
    public readonly bool IsBase64Key => (MetaFlags & MemcachedMetaFlags.Base64Key) != 0;

    /// <summary>Enumerates the words of <see cref="Arguments"/>.</summary>
    /// <param name="input">The input that the request was read from.</param>
    public readonly MemcachedTokens EnumerateArguments(ReadOnlySpan<byte> input) => new(Arguments.Of(input));

    /// <summary>Returns whether the request has all of these flags.</summary>
    /// <param name="flags">One or more flags.</param>
    public readonly bool Has(MemcachedMetaFlags flags) => (MetaFlags & flags) == flags;

    /// <summary>Decodes a base64 key.</summary>
    /// <param name="input">The input that the request was read from.</param>
    /// <param name="destination">The buffer, at least <see cref="MemcachedReader.MaxKeyBytes"/> bytes.</param>
    /// <param name="bytesWritten">The length of the key.</param>
    /// <returns><see langword="false"/> if the key is not valid base64. The reader reports such a request as malformed.</returns>
    public readonly bool TryDecodeKey(ReadOnlySpan<byte> input, Span<byte> destination, out int bytesWritten) =>
        Base64.DecodeFromUtf8(Key.Of(input), destination, out _, out bytesWritten) == OperationStatus.Done && bytesWritten > 0;
}
