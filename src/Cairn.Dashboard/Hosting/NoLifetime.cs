using Microsoft.Extensions.Hosting;

namespace Cairn.Dashboard.Hosting;

/// <summary>A web application that neither starts nor ends with the process.</summary>
internal sealed class NoLifetime : IHostLifetime
{
    public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
