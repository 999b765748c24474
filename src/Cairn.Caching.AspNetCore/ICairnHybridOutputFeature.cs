namespace Cairn.Caching.AspNetCore;

/// <summary>
/// Lets an endpoint control how its response is kept in the hybrid cache. The request has this feature while the endpoint runs, and does
/// not have it if the response is not kept.
/// </summary>
public interface ICairnHybridOutputFeature
{
    /// <summary>Adds a tag to the response. If the tag was invalidated since the endpoint began, the response is not kept.</summary>
    /// <param name="tag">The tag; not empty, and not <c>*</c>.</param>
    /// <exception cref="ArgumentException">The tag is empty or <c>*</c>.</exception>
    void AddTag(string tag);

    /// <summary>Passes the response to the client without keeping it.</summary>
    void DoNotCache();
}
