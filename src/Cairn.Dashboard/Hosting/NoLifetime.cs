using Microsoft.Extensions.Hosting;

namespace Cairn.Dashboard.Hosting;

/// <summary>The lifetime of a web application that is independent of the process's signals.</summary>
internal sealed class NoLifetime : IHostLifetime
{
    public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
