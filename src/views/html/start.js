// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the data and starts the page. This is the end of the script.

readData(byId("data").textContent).then(function (d) {
	byId("data").textContent = "";
	byId("wait").hidden = true;
	byId("main").hidden = false;
	window.tally = new Page(d);
}).catch(function (e) {
	const note = byId("wait");
	note.hidden = false;
	note.className = "note bad";
	note.textContent = "This page cannot show its data: " + e.message;
	document.documentElement.dataset.ready = "failed";
});
})();
