using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Caching.Composition;

internal sealed record CairnHybridCacheBuilder(string Name, IServiceCollection Services) : ICairnHybridCacheBuilder;
