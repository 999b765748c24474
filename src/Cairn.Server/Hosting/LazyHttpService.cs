// Listens for HTTP clients. Listening costs almost nothing. The HTTP service is created when the first client connects.
using System.Net.Sockets;
using Cairn.Server.Listening;
using Cairn.Server.Logging;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Hosting;

internal sealed class LazyHttpService : IAsyncDisposable
{
    private const int RetryMs = 100;

    private readonly List<Listener> _listeners;
    private readonly Func<IHttpService> _make;
    private readonly ILogger _log;
    private readonly SemaphoreSlim _making = new(1);
    private readonly CancellationTokenSource _closing = new();
    private Task[] _accepting = [];
    private IHttpService? _service;
    private int _isClosed;

    private LazyHttpService(List<Listener> listeners, Func<IHttpService> make, ILogger log)
    {
        _listeners = listeners;
        _make = make;
        _log = log;
    }

    public IReadOnlyList<Listener> Listeners => _listeners;

    /// <summary>Gets whether a client has connected already.</summary>
    public bool IsServed => Volatile.Read(ref _service) is not null;

    /// <summary>Starts to listen.</summary>
    /// <exception cref="ServerException">An address cannot be listened on.</exception>
    public static LazyHttpService Open(IReadOnlyList<ListenAddress> addresses, Func<IHttpService> make, ILogger log)
    {
        var listeners = new List<Listener>();
        try
        {
            foreach (ListenAddress address in addresses)
            {
                listeners.AddRange(Listener.Open("http", address));
            }
        }
        catch
        {
            listeners.ForEach(listener => listener.Dispose());
            throw;
        }

        return new LazyHttpService(listeners, make, log);
    }

    /// <summary>Starts to accept clients. This is not part of listening, because it starts threads, which would delay the start of the
    /// server.</summary>
    public void Accept() => _accepting = [.. _listeners.Select(AcceptAsync)];

    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isClosed, 1) != 0)
        {
            return;
        }

        await _closing.CancelAsync().ConfigureAwait(false);
        _listeners.ForEach(listener => listener.Dispose());
        await Task.WhenAll(_accepting).ConfigureAwait(false);
        if (_service is { } service)
        {
            await service.DisposeAsync().ConfigureAwait(false);
        }

        _making.Dispose();
        _closing.Dispose();
    }

    private async Task AcceptAsync(Listener listener)
    {
        while (!_closing.IsCancellationRequested)
        {
            Socket? client = null;
            try
            {
                client = await listener.Socket.AcceptAsync(_closing.Token).ConfigureAwait(false);
                await ServeAsync(client).ConfigureAwait(false);
            }
            catch (OperationCanceledException)
            {
                return;
            }
            catch (ObjectDisposedException)
            {
                client?.Dispose();
                return;
            }
            catch (SocketException)
            {
                // The client has already gone, or descriptors ran out, which takes a while to change.
                await Task.Delay(RetryMs, CancellationToken.None).ConfigureAwait(false);
            }
#pragma warning disable CA1031 // A dashboard that fails is no reason to stop serving the cache.
            catch (Exception e)
#pragma warning restore CA1031
            {
                client?.Dispose();
                _log.Write(LogLevel.Error, $"HTTP cannot be served: {e.Message}");
            }
        }
    }

    private async Task ServeAsync(Socket client)
    {
        await _making.WaitAsync(_closing.Token).ConfigureAwait(false);
        try
        {
            _service ??= _make();
            _service.Serve(client);
        }
        finally
        {
            _making.Release();
        }
    }
}
