namespace Cairn.Caching.AspNetCore;

/// <summary>
/// What an endpoint may say of the response that it makes, if the response is to be kept in the hybrid cache. Among the request's features while the
/// endpoint runs; missing where nothing is kept.
/// </summary>
public interface IHybridOutputFeature
{
    /// <summary>Tags the response. If the tag was invalidated since the endpoint began, the response is not kept.</summary>
    /// <param name="tag">The tag; not empty, and not <c>*</c>.</param>
    /// <exception cref="ArgumentException">The tag is empty or <c>*</c>.</exception>
    void AddTag(string tag);

    /// <summary>Passes the response on without keeping it.</summary>
    void DoNotCache();
}
