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
/// An ASP.NET Core output cache store that keeps responses in a store file. All processes of a machine share the file, and responses
/// survive a restart.
/// </summary>
/// <remarks>
/// <para>
/// Evicting a tag is immediate. Once <see cref="EvictByTagAsync"/> has returned, no process reads a response that carries the tag and was
/// stored before. The cost does not depend on the number of responses. If one of a response's tags is evicted while the response is being
/// made, the response is not stored. This relies on the policy that AddCairnOutputCache registers, which records when each request began.
/// Without the policy, and for calls outside a request, the store detects only evictions during
/// <see cref="SetAsync(string, byte[], string[], TimeSpan, CancellationToken)"/>.
/// </para>
/// <para>
/// Safe from any thread. Each operation completes within the call and returns a completed task. Responses may be evicted at any time. A
/// response that cannot be stored is not an error; the properties of this class count such responses.
/// </para>
/// </remarks>
public sealed class CairnOutputCacheStore : IOutputCacheBufferStore, IDisposable
{
    private const string TagsSuffix = "/tags";

    // The longest time to live that a store can express. A longer one means no expiration.
    private static readonly TimeSpan LongestTime = TimeSpan.FromDays(100_000);

    private readonly StoreHandle _handle;
    private readonly CairnCollection _responses;
    private readonly IHttpContextAccessor? _requests;
    private readonly DroppedWrites _dropped;
    private long _overtaken;
    private long _unstorable;
    private volatile bool _isDisposed;

    /// <summary>Opens the store and the collections of an output cache.</summary>
    /// <param name="options">The file and the collection.</param>
    /// <param name="requests">Gives access to the current request; null if there are no requests.</param>
    /// <param name="logger">Logs dropped writes and failures of the store's work in the background, at most once a minute; null for no log.</param>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    /// <exception cref="UnauthorizedAccessException">The user of the process may not read and write the file.</exception>
    /// <exception cref="StoreException">
    /// The file cannot be opened: the disk is full, the file is not a store, it is on a network file system, or another reason that the
    /// message states.
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
        _handle.LogFailures(logger);
        _dropped = new DroppedWrites(_handle.Store.Path, (ILogger?)logger ?? NullLogger.Instance);
    }

    /// <summary>
    /// Gets the number of responses that were not stored because a stopped process holds a lock or because readers have pinned all
    /// segments. The earlier response is removed.
    /// </summary>
    public long DroppedWrites => _dropped.Count;

    /// <summary>
    /// Gets the number of responses that were not stored because they may be outdated. One of their tags was evicted, or may have been evicted,
    /// while they were created. Or a response to the same path from before an eviction was still being sent.
    /// </summary>
    public long OvertakenResponses => Interlocked.Read(ref _overtaken);

    /// <summary>
    /// Gets the number of responses that were not stored because of a limit. A response may have at most an eighth of the store's capacity, and
    /// 64 MiB. A key may have at most 65,536 bytes in UTF-8, and a tag 1,024. Both must be valid text.
    /// </summary>
    public long UnstorableResponses => Interlocked.Read(ref _unstorable);

    internal TagTable Tags { get; }

    internal CairnStore Store => _handle.Store;

    /// <summary>Makes all responses that carry a tag unreadable in all processes before it returns.</summary>
    /// <param name="tag">The tag, up to 1,024 bytes in UTF-8, compared ordinally. No response carries a longer tag.</param>
    /// <param name="cancellationToken">If it is already cancelled, nothing is evicted and the returned task is cancelled.</param>
    /// <returns>A completed task.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="tag"/> is null.</exception>
    public ValueTask EvictByTagAsync(string tag, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(tag);
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellationToken);
        }

        // No response carries text that cannot be a tag.
        if (CanBeTag(tag))
        {
            Tags.Evict(tag);
        }

        return ValueTask.CompletedTask;
    }

    /// <summary>Returns a copy of a response.</summary>
    /// <param name="key">The key of the response.</param>
    /// <param name="cancellationToken">If it is already cancelled, nothing is read and the returned task is cancelled.</param>
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

    /// <summary>Writes a response to a pipe and flushes the pipe.</summary>
    /// <param name="key">The key of the response.</param>
    /// <param name="destination">The pipe. Nothing is written if the result is false.</param>
    /// <param name="cancellationToken">Cancels the wait for the pipe's reader.</param>
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

    /// <summary>Stores a response and replaces an earlier one. A response that cannot be stored is counted instead.</summary>
    /// <param name="key">The key of the response.</param>
    /// <param name="value">The response, copied before the call returns.</param>
    /// <param name="tags">The tags of the response; null for none.</param>
    /// <param name="validFor">The time to live. If it is not above zero, the earlier response is removed.</param>
    /// <param name="cancellationToken">If it is already cancelled, nothing is stored and the returned task is cancelled.</param>
    /// <returns>A completed task.</returns>
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

    /// <summary>Releases the store. It closes with the last cache of this process that uses it. Its contents stay.</summary>
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

        RequestEpoch? request = _requests?.HttpContext?.Features.Get<RequestEpoch>();
        if (request is { IsApart: true })
        {
            CountOvertaken(); // No other epoch reads the key of the request.
            return;
        }

        long size = AreTags(tags) ? ResponseEnvelope.SizeOf(tags, value.Length) : long.MaxValue;
        if (size > _handle.Store.MaxValueBytes)
        {
            Interlocked.Increment(ref _unstorable);
            _responses.Remove(key); // The effect of storing the response and evicting it at once.
            return;
        }

        ulong[] stamps = tags.Length > 0 ? new ulong[tags.Length] : [];
        if (!TryStamp(tags, request?.Begun ?? Tags.Now(), stamps))
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

    // Returns the stamps that the tags had in the epoch (TagTable I3).
    private bool TryStamp(ReadOnlySpan<string> tags, Epoch begun, Span<ulong> stamps)
    {
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

    // Reads the bytes in place. The callback must not wait.
    private ResponseReading Read(string key, ResponseReading reading)
    {
        ArgumentNullException.ThrowIfNull(key);
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        if (KeyText.IsKey(key))
        {
            _responses.Read(key, reading, static (envelope, info, reading) => reading.Read(envelope, info.Version));
            if (reading.VoidVersion != 0)
            {
                // The response is void permanently, so its space is freed.
                _responses.CompareAndRemove(key, reading.VoidVersion);
            }
        }

        return reading;
    }
}
