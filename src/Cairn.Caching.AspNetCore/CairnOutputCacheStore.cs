using System.Buffers;
using System.IO.Pipelines;
using Cairn.Caching.AspNetCore.Responses;
using Cairn.Caching.AspNetCore.Tagging;
using Cairn.Caching.Stores;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.OutputCaching;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Cairn.Caching.AspNetCore;

/// <summary>
/// Where ASP.NET Core's output caching keeps responses: a store file that all processes of a machine share, and that is still warm after a
/// restart.
/// </summary>
/// <remarks>
/// <para>
/// Evicting a tag is immediate: once <see cref="EvictByTagAsync"/> has returned, no process is given a response that carries the tag and was
/// stored before. It costs the same however many responses there are. A response that was still being made when one of its tags was
/// evicted is not stored; that rests on the policy that AddCairnOutputCache registers, which notes when each request began. Without it, or for
/// calls outside of a request, only evictions during <see cref="SetAsync(string, byte[], string[], TimeSpan, CancellationToken)"/> are noticed.
/// </para>
/// <para>
/// Safe from any thread. Every operation is done within the call, and the tasks are complete when they are returned. Responses may be
/// evicted at any time. What cannot be stored is not an error but counted: see the properties.
/// </para>
/// </remarks>
public sealed class CairnOutputCacheStore : IOutputCacheBufferStore, IDisposable
{
    private const string TagsSuffix = "/tags";

    // What a store can express; longer is as good as for ever.
    private static readonly TimeSpan LongestTime = TimeSpan.FromDays(100_000);

    private readonly StoreHandle _handle;
    private readonly CairnCollection _responses;
    private readonly IHttpContextAccessor? _requests;
    private readonly DroppedWrites _dropped;
    private long _overtaken;
    private long _unstorable;
    private volatile bool _isDisposed;

    /// <summary>Opens the store and the collections of an output cache.</summary>
    /// <param name="options">Where they are.</param>
    /// <param name="requests">Tells the request that a response belongs to; null if there are none.</param>
    /// <param name="logger">Told of dropped writes, once a minute at most; null for nobody.</param>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read and write the file.</exception>
    /// <exception cref="StoreException">
    /// The disk is full, the file is no store, or on a network file system, or another reason why it cannot be opened: the message tells.
    /// </exception>
    /// <exception cref="DirectoryNotFoundException">The file's directory does not exist.</exception>
    public CairnOutputCacheStore(
        CairnOutputCacheOptions options, IHttpContextAccessor? requests = null, ILogger<CairnOutputCacheStore>? logger = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        _handle = options.OpenStore();
        try
        {
            _responses = _handle.Store.Collection(
                options.CollectionName, options.BudgetBytes is { } budget ? new CollectionOptions { BudgetBytes = budget } : null);
            Tags = new TagTable(_handle.Store.Collection(options.CollectionName + TagsSuffix));
        }
        catch
        {
            _handle.Dispose();
            throw;
        }

        _requests = requests;
        _dropped = new DroppedWrites(_handle.Store.Path, (ILogger?)logger ?? NullLogger.Instance);
    }

    /// <summary>
    /// Responses that were not stored because a process that is stopped holds a lock, or readers have pinned all there is. An earlier one is gone.
    /// </summary>
    public long DroppedWrites => _dropped.Count;

    /// <summary>Responses that were not stored because one of their tags was, or may have been, evicted while they were made.</summary>
    public long OvertakenResponses => Interlocked.Read(ref _overtaken);

    /// <summary>
    /// Responses that were not stored because they are longer than an eighth of the store's capacity or than 64 MiB, or because their key is
    /// longer than 65,536 bytes in UTF-8, a tag longer than 1,024, or either no valid text.
    /// </summary>
    public long UnstorableResponses => Interlocked.Read(ref _unstorable);

    internal TagTable Tags { get; }

    internal CairnStore Store => _handle.Store;

    /// <summary>Makes all responses that carry a tag unreadable, in all processes, before it returns.</summary>
    /// <param name="tag">Any text up to 1,024 bytes in UTF-8; compared ordinally. No response carries a longer one.</param>
    /// <param name="cancellationToken">If it is cancelled already, nothing is done, and so is the task.</param>
    /// <returns>A task that is complete.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="tag"/> is null.</exception>
    public ValueTask EvictByTagAsync(string tag, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(tag);
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellationToken);
        }

        // No response carries what cannot be a tag.
        if (CanBeTag(tag))
        {
            Tags.Evict(tag);
        }

        return ValueTask.CompletedTask;
    }

    /// <summary>A copy of a response.</summary>
    /// <param name="key">Its key.</param>
    /// <param name="cancellationToken">If it is cancelled already, nothing is read, and so is the task.</param>
    /// <returns>The response; null if there is none.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
    public ValueTask<byte[]?> GetAsync(string key, CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<byte[]?>(cancellationToken);
        }

        return ValueTask.FromResult(Read(key, new ResponseReading(Tags, target: null)).Copy);
    }

    /// <summary>Writes a response to a pipe, and flushes it.</summary>
    /// <param name="key">Its key.</param>
    /// <param name="destination">Where to. Nothing is written if the result is false.</param>
    /// <param name="cancellationToken">Ends waiting for the pipe's reader.</param>
    /// <returns>True if there is a response.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    public ValueTask<bool> TryGetAsync(string key, PipeWriter destination, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(destination);
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<bool>(cancellationToken);
        }

        return Read(key, new ResponseReading(Tags, destination)).IsDone ? FlushAsync(destination, cancellationToken) : ValueTask.FromResult(false);

        static async ValueTask<bool> FlushAsync(PipeWriter destination, CancellationToken cancellationToken)
        {
            await destination.FlushAsync(cancellationToken).ConfigureAwait(false);
            return true;
        }
    }

    /// <summary>Stores a response, replacing an earlier one; or does not, and counts it.</summary>
    /// <param name="key">Its key.</param>
    /// <param name="value">The response, copied before the call returns.</param>
    /// <param name="tags">Its tags; null for none.</param>
    /// <param name="validFor">How long; if it is not above zero, the earlier response is removed.</param>
    /// <param name="cancellationToken">If it is cancelled already, nothing is stored, and so is the task.</param>
    /// <returns>A task that is complete.</returns>
    /// <exception cref="ArgumentNullException">The key, the response or a tag is null.</exception>
    public ValueTask SetAsync(string key, byte[] value, string[]? tags, TimeSpan validFor, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(value);
        return SetAsync(key, new ReadOnlySequence<byte>(value), tags, validFor, cancellationToken);
    }

    /// <inheritdoc cref="SetAsync(string, byte[], string[], TimeSpan, CancellationToken)"/>
    public ValueTask SetAsync(
        string key, ReadOnlySequence<byte> value, ReadOnlyMemory<string> tags, TimeSpan validFor, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(key);
        foreach (string tag in tags.Span)
        {
            ArgumentNullException.ThrowIfNull(tag, nameof(tags));
        }

        ObjectDisposedException.ThrowIf(_isDisposed, this);
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellationToken);
        }

        Set(key, value, tags.Span, validFor);
        return ValueTask.CompletedTask;
    }

    /// <summary>Gives the store back: it is closed with the last cache of this process that uses it. What it holds stays.</summary>
    public void Dispose()
    {
        _isDisposed = true;
        _handle.Dispose();
    }

    internal static bool CanBeTag(string tag) => tag.Length == 0 || KeyText.IsKey(tag, ResponseEnvelope.MaxTagBytes);

    internal void CountOvertaken() => Interlocked.Increment(ref _overtaken);

    private static Expiration After(TimeSpan validFor) => validFor <= LongestTime ? Expiration.After(validFor) : Expiration.None;

    private void Set(string key, in ReadOnlySequence<byte> value, ReadOnlySpan<string> tags, TimeSpan validFor)
    {
        if (!KeyText.IsKey(key))
        {
            Interlocked.Increment(ref _unstorable);
            return;
        }

        if (validFor <= TimeSpan.Zero)
        {
            _responses.Remove(key);
            return;
        }

        long size = AreTags(tags) ? ResponseEnvelope.SizeOf(tags, value.Length) : long.MaxValue;
        if (size > _handle.Store.MaxValueBytes)
        {
            Interlocked.Increment(ref _unstorable);
            _responses.Remove(key); // As if it had been stored and evicted at once.
            return;
        }

        ulong[] stamps = tags.Length > 0 ? new ulong[tags.Length] : [];
        if (!TryStamp(tags, stamps))
        {
            CountOvertaken();
            return;
        }

        byte[] rented = ArrayPool<byte>.Shared.Rent((int)size);
        try
        {
            Span<byte> envelope = rented.AsSpan(0, (int)size);
            ResponseEnvelope.Write(envelope, tags, stamps, value);
            if (!_responses.Set(key, envelope, After(validFor)))
            {
                _dropped.Add();
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(rented);
        }
    }

    private static bool AreTags(ReadOnlySpan<string> tags)
    {
        foreach (string tag in tags)
        {
            if (!CanBeTag(tag))
            {
                return false;
            }
        }

        return tags.Length <= ResponseEnvelope.MaxTags;
    }

    // The stamps that the tags had when the request began, or, if nobody noted that, have now (TagTable I3).
    private bool TryStamp(ReadOnlySpan<string> tags, Span<ulong> stamps)
    {
        if (tags.Length == 0)
        {
            return true;
        }

        Epoch begun = _requests?.HttpContext?.Features.Get<RequestEpoch>()?.Begun ?? Tags.Now();
        for (int i = 0; i < tags.Length; i++)
        {
            stamps[i] = Tags.StampFor(tags[i], begun);
            if (stamps[i] == 0)
            {
                return false;
            }
        }

        return true;
    }

    // The bytes are read where they lie, and nothing is waited for meanwhile.
    private ResponseReading Read(string key, ResponseReading reading)
    {
        ArgumentNullException.ThrowIfNull(key);
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        if (KeyText.IsKey(key))
        {
            _responses.Read(key, reading, static (envelope, info, reading) => reading.Read(envelope, info.Version));
            if (reading.VoidVersion != 0)
            {
                // Void for good: its room is better used.
                _responses.Remove(key, reading.VoidVersion);
            }
        }

        return reading;
    }
}
