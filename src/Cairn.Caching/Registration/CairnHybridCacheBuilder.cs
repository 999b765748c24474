using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Caching.Registration;

internal sealed record CairnHybridCacheBuilder(string Name, IServiceCollection Services) : ICairnHybridCacheBuilder;
